import { readFile, stat } from "node:fs/promises";
import { forms as commonForms } from "@postern/core/forms.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type TenantPolicy, tenantPolicy } from "@postern/core/tenant-policy.ts";
import { type Static, Type } from "typebox";
import { Errors } from "typebox/value";

const list = Type.Optional(Type.Array(Type.String({ minLength: 1 })));

/** The form of the file. */
export const tenantPolicySchema = Type.Object(
  {
    namespaces: Type.Array(
      Type.Object(
        {
          namespace: Type.String({ minLength: 1 }),
          domains: list,
          subscriptions: list,
          resourceGroups: list,
          identities: list,
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const largestFile = 1_048_576;

const guid = commonForms.guid.pattern;

/** What the values look like; a `*` at the end stands for any rest. */
const forms = {
  namespace: { form: /^[a-z0-9-]*\*?$/, is: "a namespace" },
  domains: { form: /^(\*|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)$/i, is: "a domain" },
  subscriptions: { form: new RegExp(`^(${guid}|\\*)$`, "i"), is: "the id of a subscription" },
  resourceGroups: {
    form: /^(\/subscriptions\/[^/]+\/resourceGroups\/[^/]+|\*)$/i,
    is: "the id of a resource group, /subscriptions/SUBSCRIPTION/resourceGroups/NAME",
  },
  identities: {
    form: new RegExp(`^(${guid}|[a-z0-9-]+/[a-z0-9.*-]+|\\*)$`, "i"),
    is: "a client id, or namespace/name of an AzureClusterIdentity",
  },
} as const;

/** Read the file of `--tenant-policy`; undefined where none is given. What cannot be read ends the process at its start. */
export async function readTenantPolicy(
  file: string | undefined,
): Promise<TenantPolicy | undefined> {
  if (!file) return undefined;
  const refuse = (why: string) =>
    new UsageError(`--tenant-policy ${file} cannot be used: ${why} (see docs/security.md)`);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > largestFile) throw refuse(`the file is larger than ${largestFile} bytes`);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw refuse(cause.code ?? "unknown error");
  });
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw refuse(`the file is not YAML: ${(error as Error).message.split("\n")[0]}`);
  }
  const [wrong] = Errors(tenantPolicySchema, value);
  if (wrong !== undefined)
    throw refuse(
      wrong.keyword === "boolean"
        ? `${wrong.instancePath} is an unknown field`
        : `${wrong.instancePath || "the document"} ${wrong.message}`,
    );
  const { namespaces } = value as Static<typeof tenantPolicySchema>;
  namespaces.forEach((entry, at) => {
    // The first entry counts: whatever a second one allows or forbids would be ignored.
    const first = namespaces.findIndex(({ namespace }) => namespace === entry.namespace);
    if (first < at)
      throw refuse(
        `/namespaces/${at}: ${entry.namespace} has an entry already, /namespaces/${first}`,
      );
    for (const [field, { form, is }] of Object.entries(forms)) {
      const given = entry[field as keyof typeof forms] ?? [];
      const odd = [given].flat().find((each) => !form.test(each));
      if (odd !== undefined)
        throw refuse(
          `/namespaces/${at}/${field}: ${JSON.stringify(odd.slice(0, 100))} is not ${is}`,
        );
    }
  });
  // `exactOptionalPropertyTypes`: an absent list stays absent.
  return tenantPolicy((value as Static<typeof tenantPolicySchema>).namespaces as never);
}
