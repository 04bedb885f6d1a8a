import { connect, type Socket } from "node:net";

/** What a run came to. */
export interface Run {
  perSecond: number;
  p99Ms: number;
}

/** The bytes of a request that is made again and again, or a function that makes the next one. */
export type Next = (number: number) => Buffer | string;

/** The bytes of one request. */
export function bytesOf(method: string, path: string, token: string, body = ""): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
  if (body === "") return `${head}\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/**
 * Ask a server `count` times over some connections, each of which asks when it has been answered. It reads only what
 * it must of an answer, so that the server is what is measured.
 */
export async function load(
  url: string,
  count: number,
  connections: number,
  next: Next,
  answered?: (number: number, head: string) => void,
): Promise<Run> {
  const { port } = new URL(url);
  const times = new Float64Array(count);
  let begun = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const line = new Line(connect({ port: Number(port), host: "127.0.0.1", noDelay: true }));
      for (let number = begun++; number < count; number = begun++) {
        const at = performance.now();
        const head = await line.ask(next(number));
        times[number] = performance.now() - at;
        if (!/^HTTP\/1.1 20/.test(head)) throw new Error(`the server said ${head.slice(0, 200)}`);
        answered?.(number, head);
      }
      line.close();
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  times.sort();
  return { perSecond: count / seconds, p99Ms: times[Math.floor(count * 0.99)] ?? 0 };
}

/** One connection, one request at a time. */
class Line {
  readonly #socket: Socket;
  #head = "";
  #left = -1;
  #done: ((head: string) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#failed?.(error));
    socket.on("close", () => this.#failed?.(new Error("the connection ended")));
  }

  ask(bytes: Buffer | string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#head = "";
      this.#left = -1;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#left < 0) {
      this.#head += chunk.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head);
      this.#left = Number(length?.[1] ?? 0) - (this.#head.length - end - 4);
    } else this.#left -= chunk.length;
    if (this.#left <= 0) this.#done?.(this.#head);
  }
}
