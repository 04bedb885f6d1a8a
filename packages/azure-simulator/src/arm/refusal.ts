/** One line under an error, with a code of its own. */
export interface Detail {
  code: string;
  message: string;
}

/** Who refused: the front door of Resource Manager, or a provider behind it. They answer differently. */
export type Refuser = "gateway" | "provider" | "compute" | "dns";

/** A request that Azure would refuse, in the words and with the status that Azure uses. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly by: Refuser;
  readonly details: readonly Detail[] | undefined;
  readonly target: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent in place of ARM's form of an error. */
  readonly #body: unknown;

  constructor(
    status: number,
    code: string,
    message: string,
    more: {
      by?: Refuser;
      details?: readonly Detail[];
      target?: string;
      headers?: Record<string, string>;
      body?: unknown;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.by = more.by ?? "provider";
    // The front door, compute and DNS (Azure/azure-powershell#9537) send no details; the network provider always does, if only an empty list.
    this.details = more.details ?? (this.by === "provider" ? [] : undefined);
    this.target = more.target;
    this.#body = more.body;
    // Recorded: compute says this with whatever it answers.
    const compute = this.by === "compute" ? { "X-Ms-Need-To-Refresh-Epl-Cache": "False" } : {};
    this.headers = { ...compute, ...more.headers };
  }

  /** The same as what an operation fails with. */
  get error(): { code: string; message: string; details: readonly Detail[] } {
    return { code: this.code, message: this.message, details: this.details ?? [] };
  }

  /** The body of the answer. */
  get body(): unknown {
    if (this.#body !== undefined) return this.#body;
    const { code, message, target, details } = this;
    // Recorded: DNS puts no envelope around the errors of its record sets.
    if (this.by === "dns") return { code, message };
    return {
      error: {
        code,
        message,
        ...(target !== undefined && { target }),
        ...(details && { details }),
      },
    };
  }
}
