import type { World } from "../arm/resource-type.ts";
import type { Traffic } from "../control/traffic.ts";
import type { Resource } from "../state/store.ts";
import { type Imds, startImds } from "./imds.ts";

/** A machine and where its metadata service is reached. */
export interface Machine {
  id: string;
  metadata: string;
}

/** The metadata services of all machines of a world, each started when somebody first asks for it. */
export class Machines {
  readonly #world: World;
  readonly #traffic: Traffic;
  readonly #started = new Map<string, Promise<Imds>>();

  constructor(world: World, traffic: Traffic) {
    this.#world = world;
    this.#traffic = traffic;
  }

  /** Every machine that there is. */
  async list(): Promise<Machine[]> {
    const machines = [...this.#world.store.all()].filter(isMachine);
    return Promise.all(
      machines.map(async ({ id }) => ({ id, metadata: (await this.#imdsOf(id)).url })),
    );
  }

  /** The metadata service of one machine; undefined where there is no such machine. */
  async find(id: string): Promise<Imds | undefined> {
    const machine = this.#world.store.get(id);
    return machine && isMachine(machine) ? this.#imdsOf(machine.id) : undefined;
  }

  async close(): Promise<void> {
    const started = await Promise.all(this.#started.values());
    await Promise.all(started.map((each) => each.close()));
  }

  #imdsOf(id: string): Promise<Imds> {
    const key = id.toLowerCase();
    const known = this.#started.get(key);
    if (known !== undefined) return known;
    const started = startImds({ world: this.#world, traffic: this.#traffic }, id);
    this.#started.set(key, started);
    return started;
  }
}

function isMachine({ type }: Resource): boolean {
  return type.startsWith("Microsoft.Compute/") && type.endsWith("/virtualMachines");
}
