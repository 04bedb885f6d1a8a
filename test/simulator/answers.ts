import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Sent } from "@postern/azure-simulator/send.ts";
import { OpenApi } from "./openapi.ts";

const root = process.env.POSTERN_DATA ?? join(import.meta.dirname, "../../../shared/data");
/** Where the documents are, and whether they are. */
export const openApiFolder = join(root, "azure-openapi");

/** Answers that Resource Manager is made to give are not its own. */
const made = new Set<Sent["fault"]>(["answer", "html", "throttled", "lost", "dropped"]);

let documents: OpenApi | undefined;

/** Looks at every answer of Resource Manager as it goes out, and keeps what Azure's documents say against it. */
export class Answers {
  readonly wrong: string[] = [];
  /** How many a document describes, and how many none does. */
  checked = 0;
  unknown = 0;

  readonly answered = (sent: Sent): void => {
    if (made.has(sent.fault) || isDnsThrottled(sent)) return;
    documents ??= new OpenApi(openApiFolder);
    const problem = documents.check(sent);
    if (problem === "unknown") {
      this.unknown++;
      return;
    }
    this.checked++;
    if (problem !== undefined)
      this.wrong.push(`${sent.method} ${sent.url} → ${sent.status}: ${problem}\n  ${sent.body}`);
  };
}

/** DNS throttles with a string where its document has an object (kubernetes-sigs/external-dns#4811). */
function isDnsThrottled({ status, body }: Sent): boolean {
  return status === 429 && body.startsWith('"');
}

/** Something to look at answers with; undefined where there are no documents to compare with. */
export function watchAnswers(): Answers | undefined {
  return existsSync(openApiFolder) ? new Answers() : undefined;
}
