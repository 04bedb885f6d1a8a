/** Forms that a string must have, and what a message calls them. */
export const forms = {
  guid: {
    pattern: "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    is: "an id such as 00000000-0000-4000-8000-000000000000",
  },
  label: {
    pattern: "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
    is: "at most 63 lower-case letters, digits and dashes",
  },
  domain: {
    pattern: "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*",
    is: "lower-case letters, digits, dashes and dots",
  },
  resourceGroup: {
    pattern: "[-\\w.()]{0,89}[-\\w()]",
    is: "the name of a resource group: at most 90 letters, digits and -_.(), without a dot at the end",
  },
  url: {
    pattern: "https?://[\\w.-]+(:[0-9]+)?(/[\\w.~%-]+)*",
    is: "a URL without a slash at its end, such as https://docs.example.com/runbooks",
  },
  registry: { pattern: "[a-zA-Z0-9.-]+(:[0-9]+)?", is: "a host, such as mirror.example.com:5000" },
  repository: {
    pattern: "[a-z0-9]+([._/:-]+[a-z0-9]+)*",
    is: "the repository of an image, such as registry.example.com/postern",
  },
  tag: { pattern: "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", is: "a tag" },
  digest: { pattern: "sha256:[0-9a-f]{64}", is: "a digest: sha256: and 64 hexadecimal digits" },
  key: { pattern: "[-._a-zA-Z0-9]+", is: "a key of a Secret" },
  azureTags: {
    pattern: "[A-Za-z0-9][\\w.:-]*=[^,]*(,[A-Za-z0-9][\\w.:-]*=[^,]*){0,4}",
    is: "at most 5 tags, such as team=blue,cost-center=42",
  },
  condition: { pattern: "[A-Za-z0-9]+", is: "the type of a condition" },
  namespaces: {
    pattern: "([a-z0-9-]+\\*?|\\*)",
    is: "a namespace, or the beginning of several and a *",
  },
} as const;

/** Why a text is not of a form, as in "must be …"; undefined where it is. */
export function whyUnfit(text: string, form: keyof typeof forms): string | undefined {
  const { pattern, is } = forms[form];
  return new RegExp(`^(${pattern})$`).test(text) ? undefined : `must be ${is}`;
}
