/** What the metadata service of a machine answers. */
export interface ImdsAnswer {
  status: number;
  /** JSON, or plain text where it is a string. */
  body?: unknown;
}

/** A request that the metadata service refuses. */
export class ImdsRefusal extends Error {
  override readonly name = "ImdsRefusal";
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.error));
    this.status = status;
    this.body = body;
  }
}

/** A refusal in one sentence. */
export function refused(status: number, error: string): ImdsRefusal {
  return new ImdsRefusal(status, { error });
}

/** The identity part refuses in the form of OAuth. */
export function identityRefused(status: number, error: string, description: string): ImdsRefusal {
  return new ImdsRefusal(status, { error, error_description: description });
}
