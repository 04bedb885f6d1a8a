import { createWriteStream } from "node:fs";
import type { Verb } from "./routes.ts";

/** A request that was answered, as the audit log has it. */
export interface Audited {
  verb: Verb | string;
  requestURI: string;
  username: string;
  userAgent: string;
  objectRef?: object;
  code: number;
  received: Date;
}

/** Where finished requests are written down. */
export interface Audit {
  log(entry: Audited): void;
  close(): Promise<void>;
}

/** A log in the form of kube-apiserver's: one line of JSON for each finished request. */
export function auditTo(file: string): Audit {
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  // Nobody can be told in time: the requests themselves are answered all the same.
  stream.on("error", () => undefined);
  return {
    log: ({ verb, requestURI, username, userAgent, objectRef, code, received }) =>
      void stream.write(
        `${JSON.stringify({
          kind: "Event",
          apiVersion: "audit.k8s.io/v1",
          level: "Metadata",
          stage: "ResponseComplete",
          requestURI,
          verb,
          user: { username },
          userAgent,
          ...(objectRef && { objectRef }),
          responseStatus: { metadata: {}, code },
          requestReceivedTimestamp: received.toISOString().replace("Z", "000Z"),
        })}\n`,
      ),
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
}
