/** A sign-in that Entra refuses, in its words and with its numbers. */
export class EntraRefusal extends Error {
  override readonly name = "EntraRefusal";
  readonly status: number;
  readonly error: string;
  /** The number after `AADSTS`. */
  readonly number: number;

  constructor(status: number, error: string, number: number, message: string) {
    super(message);
    this.status = status;
    this.error = error;
    this.number = number;
  }

  /** The body of the answer. */
  body(ids: { trace: string; correlation: string; at: number }): Record<string, unknown> {
    const timestamp = new Date(ids.at).toISOString().replace("T", " ").replace(/\.\d+/, "");
    return {
      error: this.error,
      error_description: `AADSTS${this.number}: ${this.message} Trace ID: ${ids.trace} Correlation ID: ${ids.correlation} Timestamp: ${timestamp}`,
      error_codes: [this.number],
      timestamp,
      trace_id: ids.trace,
      correlation_id: ids.correlation,
      error_uri: `https://login.microsoftonline.com/error?code=${this.number}`,
    };
  }
}

/** The proof of who asks is wrong. */
export function invalidClient(number: number, message: string): EntraRefusal {
  return new EntraRefusal(401, "invalid_client", number, message);
}

/** The request is wrong. */
export function invalidRequest(number: number, message: string): EntraRefusal {
  return new EntraRefusal(400, "invalid_request", number, message);
}
