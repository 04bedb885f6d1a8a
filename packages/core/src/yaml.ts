import type { YAMLError } from "yaml";

/** Where a text stops being YAML. It quotes nothing of the text, which may be a secret. */
export class YamlError extends Error {
  override readonly name = "YamlError";

  constructor(text: string, code: string, at: number) {
    let line = 1;
    for (let end = text.indexOf("\n"); end >= 0 && end < at; end = text.indexOf("\n", end + 1))
      line++;
    super(`line ${line} is not valid YAML (${code})`);
  }
}

/**
 * Read YAML. Duplicate keys are allowed, because the check for them takes time in proportion to their square; aliases are
 * not, because a few of them make a text of any size. Nothing is printed: a warning would quote the text.
 */
export async function readYaml(text: string): Promise<unknown> {
  // Most processes never read YAML, and do not pay for the parser.
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, {
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const first: YAMLError | undefined = document.errors[0];
  if (first !== undefined) throw new YamlError(text, first.code, first.pos[0]);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    // Anything else is a stack that overflowed.
    throw new YamlError(text, error instanceof ReferenceError ? "ALIAS" : "TOO_DEEP", 0);
  }
}
