import { gunzipSync } from "node:zlib";
import type { Dispatcher } from "undici";
// The package as a whole brings fetch and WebSockets along: 120 ms and 15 MB more at start. It exports no part of itself, so
// its version is pinned (`test/package/lock.test.ts`).
import Pool from "undici/lib/dispatcher/pool.js";

/** What a server answered. */
export interface PoolAnswer {
  status: number;
  text: string;
  retryAfter: string | undefined;
}

export interface PoolOptions {
  /** `https://host:port`. */
  origin: string;
  maxSockets: number;
  timeoutMs: number;
  /** The longest answer that is read, before and after it is unpacked; any where it is left out. */
  answerBytes?: number | undefined;
  tls: object;
}

export interface SendOptions {
  signal?: AbortSignal | undefined;
  /** Asked once there is a socket, right before the request is written to it: with a no it is not sent, and `Withdrawn`. */
  mayStart?: (() => boolean) | undefined;
}

/**
 * Requests over a few kept HTTP/1.1 sockets. It stands on undici's lowest layer: a request costs a third of the CPU
 * that `node:https` takes for it (`bench/README.md`).
 */
export class SocketPool {
  readonly #pool: InstanceType<typeof Pool>;
  readonly #answerBytes: number | undefined;

  constructor(options: PoolOptions) {
    this.#answerBytes = options.answerBytes;
    this.#pool = new Pool(options.origin, {
      connections: options.maxSockets,
      pipelining: 1,
      // On one HTTP/2 connection the API server ends the watch when many writes are in flight beside it.
      allowH2: false,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      maxResponseSize: options.answerBytes ?? -1,
      connect: { ...options.tls, timeout: options.timeoutMs },
    });
  }

  /** Send a request and read the whole answer. */
  send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | undefined,
    { signal, mayStart }: SendOptions,
  ): Promise<PoolAnswer> {
    return new Promise((resolve, reject) => {
      const handler = new Handler(resolve, reject, signal, mayStart, this.#answerBytes);
      this.#pool.dispatch(
        { method: method as Dispatcher.HttpMethod, path, headers, body: body ?? null },
        handler,
      );
    });
  }

  /** Let what is under way end, and close the sockets. */
  close(): void {
    this.#pool.close().catch(() => {});
  }

  /** Close the sockets at once: what is under way fails. */
  destroy(): void {
    this.#pool.destroy().catch(() => {});
  }
}

function unpack(bytes: Buffer, mostBytes: number | undefined): Buffer {
  return gunzipSync(bytes, mostBytes === undefined ? {} : { maxOutputLength: mostBytes });
}

/** The answer broke off after it had begun. */
export class CutOff extends Error {
  override readonly name = "CutOff";
}

/** The request was not sent: it was cancelled before it had a socket. */
export class Withdrawn extends Error {
  override readonly name = "Withdrawn";
}

class Handler implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: PoolAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #mayStart: (() => boolean) | undefined;
  readonly #answerBytes: number | undefined;
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #retryAfter: string | undefined;
  #gzip = false;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #stop = () => this.#abort();

  constructor(
    resolve: (answer: PoolAnswer) => void,
    reject: (error: unknown) => void,
    signal: AbortSignal | undefined,
    mayStart: (() => boolean) | undefined,
    answerBytes: number | undefined,
  ) {
    this.#mayStart = mayStart;
    this.#answerBytes = answerBytes;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
    if (signal?.aborted) this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal?.aborted) this.#abort();
    // undici writes the request right after this; what is thrown here takes the request back and leaves the socket alone.
    else if (this.#mayStart?.() === false) throw new Withdrawn("not sent");
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#retryAfter = String(headers["retry-after"] ?? "") || undefined;
    this.#gzip = headers["content-encoding"] === "gzip";
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#over();
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    try {
      const text = String(this.#gzip ? unpack(bytes, this.#answerBytes) : bytes);
      this.#resolve({ status: this.#status, text, retryAfter: this.#retryAfter });
    } catch (cause) {
      this.#reject(new CutOff("the answer cannot be unpacked", { cause }));
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#over();
    if ((error as NodeJS.ErrnoException).code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
      const why = `the answer is longer than ${this.#answerBytes} bytes`;
      this.#reject(new CutOff(why, { cause: error }));
      return;
    }
    const begun = this.#status !== 0 && !this.#signal?.aborted;
    this.#reject(begun ? new CutOff("the answer was cut off", { cause: error }) : error);
  }

  /** End it, even where it still waits for a socket. */
  #abort(): void {
    const reason: unknown = this.#signal?.reason;
    this.#over();
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error("aborted"));
  }

  #over(): void {
    this.#signal?.removeEventListener("abort", this.#stop);
  }
}
