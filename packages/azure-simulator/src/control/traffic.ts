import type { ServerResponse } from "node:http";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";

/** How many turns of the event loop an answer may take to reach a client in this process and become its next request. */
const turns = 20;

/** The requests that have come and are not answered yet. */
export class Traffic {
  readonly #open = new Set<ServerResponse>();
  readonly #held = new Set<ServerResponse>();
  #came = 0;
  #calm: (() => void)[] = [];

  /** Count a request until its answer is out or its connection is gone. */
  came(response: ServerResponse): void {
    this.#came++;
    this.#open.add(response);
    response.on("close", () => this.#left(response));
  }

  /** The answer waits for the clock, so the clock must not wait for it. */
  hold(response: ServerResponse): void {
    this.#held.add(response);
    this.#tell();
  }

  /** The wait for the clock is over. */
  release(response: ServerResponse): void {
    this.#held.delete(response);
  }

  /** How many there are, with those that wait for the clock. */
  get count(): number {
    return this.#open.size;
  }

  /** Wait until nothing is under way but what waits for the clock, and nothing follows from what was answered. */
  async settled(patienceMs = 10_000): Promise<void> {
    for (let before = -1; before !== this.#came || this.#busy; ) {
      before = this.#came;
      await this.#calmed(patienceMs);
      for (let i = 0; i < turns; i++) await turn();
      // Names are looked up and files written on other threads: they get a moment of real time.
      await sleep(1);
    }
  }

  get #busy(): boolean {
    return this.#open.size > this.#held.size;
  }

  #calmed(patienceMs: number): Promise<void> {
    if (!this.#busy) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calm = this.#calm.filter((each) => each !== calm);
        const open = [...this.#open].filter((each) => !this.#held.has(each));
        const listed = open.map(({ req }) => `${req.method} ${req.url}`).join(", ");
        reject(new Error(`requests are not answered after ${patienceMs} ms: ${listed}`));
      }, patienceMs);
      const calm = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#calm.push(calm);
    });
  }

  #left(response: ServerResponse): void {
    this.#open.delete(response);
    this.#held.delete(response);
    this.#tell();
  }

  #tell(): void {
    if (this.#busy) return;
    const calm = this.#calm;
    this.#calm = [];
    for (const each of calm) each();
  }
}
