import { readFile, stat } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { Errors } from "typebox/value";
import { UsageError } from "../cli/usage-error.ts";
import { type TenantPolicy, tenantPolicy } from "../model/tenant-policy.ts";

const list = Type.Optional(Type.Array(Type.String({ minLength: 1 })));

const document = Type.Object(
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

/** Read the file of `--tenant-policy`; undefined where none is given. What cannot be read ends the process at its start. */
export async function readTenantPolicy(
  file: string | undefined,
): Promise<TenantPolicy | undefined> {
  if (!file) return undefined;
  const refuse = (why: string) =>
    new UsageError(`--tenant-policy ${file} cannot be used: ${why} (see docs/security.md)`);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > largestFile) throw refuse(`it is larger than ${largestFile} bytes`);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw refuse(cause.code ?? "it cannot be read");
  });
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw refuse(`it is not YAML: ${(error as Error).message.split("\n")[0]}`);
  }
  const [wrong] = Errors(document, value);
  if (wrong !== undefined) throw refuse(`${wrong.instancePath || "the document"} ${wrong.message}`);
  // `exactOptionalPropertyTypes`: an absent list stays absent.
  return tenantPolicy((value as Static<typeof document>).namespaces as never);
}
