/** A step that a controller has begun, for people who watch. */
export interface JournalStep {
  /** Counts up, so that a reader can ask for what is new. */
  number: number;
  controller: string;
  kind: string;
  key: string;
  /** A verb and the kind of resource: "create link service". */
  do: string;
  /** The resource's name. */
  name: string;
  why: string;
  at: string;
  /** When it ended; a long-running one, when Azure was done with it. */
  endedAt?: string;
  /** Steps of one reconcile began together. */
  reconcile: string;
  /** How it went, once that is known. A long one goes on in Azure. */
  outcome?: "done" | "running" | "failed";
  failure?: string;
  /** How long the operation that it began in Azure is expected to take. */
  expectedMs?: number;
  /** The writes to Azure of this step's pass, with the ids by which Microsoft's support finds them. */
  requests: JournalRequest[];
}

/** A request to Azure as the journal has it. */
export interface JournalRequest {
  verb: string;
  thing: string;
  code: string;
  requestId: string | undefined;
}
