const label1123 =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What keeps a text from being a DNS subdomain. */
export function subdomainFaults(text: string): string[] {
  const part = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  return [
    ...(text.length > 253 ? ["must be no more than 253 bytes"] : []),
    ...(new RegExp(`^${part}(\\.${part})*$`).test(text) ? [] : [label1123]),
  ];
}

/** What keeps a text from being a DNS label that begins with a letter. */
export function labelFaults(text: string): string[] {
  return [
    ...(text.length > 63 ? ["must be no more than 63 bytes"] : []),
    ...(/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text) ? [] : [label1035]),
  ];
}
