import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { atMost, type Row } from "../report.ts";
import type { GoOn } from "./drive.ts";

const rejected = "connection rejected, which is reported";

/** What somebody does to one cluster behind the operator's back, and how one sees that it is repaired. */
export interface Damage {
  name: string;
  act(): void;
  isRepaired(available: number): boolean;
  /** How many operations of Azure the repair takes, one after another: 1 where nothing else is said. */
  operations?: number;
}

/** The resources of one cluster, as somebody damages them. */
export class Victim {
  readonly #simulator: Simulator;
  readonly #clusters: number;
  readonly #isOwn: (id: string) => boolean;

  constructor(simulator: Simulator, clusters: number, isOwn: (id: string) => boolean) {
    this.#simulator = simulator;
    this.#clusters = clusters;
    this.#isOwn = isOwn;
  }

  /** It is repaired when the resource exists again and every cluster is available. */
  deleted(name: string, pattern: RegExp, operations?: number): Damage {
    let id = "";
    return {
      name: `${name} deleted`,
      act: () => {
        id = this.#find(pattern);
        // Azure deletes no zone that is linked to a network, and no link service with connections.
        const nested = [...this.#simulator.store.all()].map((each) => each.id);
        for (const each of nested)
          if (
            each.startsWith(`${id}/`) &&
            /\/(virtualNetworkLinks|privateEndpointConnections)\//.test(each)
          )
            this.#simulator.drop(each);
        this.#simulator.drop(id);
      },
      isRepaired: (available) => this.#has(id) && available >= this.#clusters,
      ...(operations !== undefined && { operations }),
    };
  }

  /** The tags that show the owner remain. */
  tagsChanged(name: string, pattern: RegExp): Damage {
    return this.#tagged(`${name}, tags changed`, pattern, (tag) => tag.startsWith("postern_"));
  }

  /** Only the tags that show who uses it are lost. */
  claimRemoved(name: string, pattern: RegExp): Damage {
    return this.#tagged(`${name}, claim removed`, pattern, (tag) => !tag.startsWith("postern_"));
  }

  #tagged(name: string, pattern: RegExp, remains: (tag: string) => boolean): Damage {
    let id = "";
    let before: [string, unknown][] = [];
    return {
      name,
      act: () => {
        id = this.#find(pattern);
        before = Object.entries(this.#tagsOf(id));
        const remaining = before.filter(([tag]) => remains(tag));
        const tags = { team: "a", ...Object.fromEntries(remaining) };
        this.#simulator.change(id, { ...this.#bodyOf(id), tags } as JsonObject);
      },
      isRepaired: () => before.every(([tag, value]) => this.#tagsOf(id)[tag] === value),
    };
  }

  /** With its metadata, as somebody does who edits the address. */
  addressChanged(name: string, pattern: RegExp): Damage {
    const addresses = (id: string) => JSON.stringify(this.#propertiesOf(id).aRecords);
    let id = "";
    let before = "";
    return {
      name: `${name} changed`,
      act: () => {
        id = this.#find(pattern);
        before = addresses(id);
        const aRecords = [{ ipv4Address: "10.9.9.9" }];
        const { ttl = 30, metadata = {} } = this.#propertiesOf(id);
        this.#simulator.change(id, { properties: { ttl, metadata, aRecords } });
      },
      isRepaired: () => addresses(id) === before,
    };
  }

  /** Only a person can repair that: it is repaired when the cluster is no longer called available. */
  connectionRejected(pattern: RegExp): Damage {
    const status = { status: "Rejected", description: "" };
    return {
      name: rejected,
      act: () =>
        this.#simulator.change(this.#find(pattern), {
          properties: { privateLinkServiceConnectionState: status },
        }),
      isRepaired: (available) => available < this.#clusters,
    };
  }

  #find(pattern: RegExp): string {
    const found = [...this.#simulator.store.all()].find(
      ({ id }) => pattern.test(id) && this.#isOwn(id.toLowerCase()),
    );
    if (found === undefined) throw new Error(`there is nothing to damage: ${pattern}`);
    return found.id;
  }

  #has(id: string): boolean {
    return this.#simulator.store.get(id.toLowerCase()) !== undefined;
  }

  #propertiesOf(id: string): JsonObject {
    return this.#simulator.store.get(id.toLowerCase())?.properties ?? {};
  }

  #tagsOf(id: string): Record<string, unknown> {
    const { tags = {} } = (this.#simulator.store.get(id.toLowerCase())?.top ?? {}) as {
      tags?: Record<string, unknown>;
    };
    return tags;
  }

  #bodyOf(id: string): JsonObject {
    const { top = {}, properties = {} } = this.#simulator.store.get(id.toLowerCase()) ?? {};
    return { ...top, properties };
  }
}

/** Everything at rest for 5 minutes, and then one damage after another. */
export async function restAndDrift(given: {
  clusters: number;
  operationSeconds: number;
  damages: readonly Damage[];
  goOn: GoOn;
}): Promise<Row[]> {
  const { clusters, operationSeconds, damages, goOn } = given;
  const of = (name: string) => `${clusters} clusters at rest: ${name}`;
  const rest = (seconds: number) => {
    let from: number | undefined;
    const isOver = (now: number) => {
      from ??= now;
      return now >= from + seconds * 1000;
    };
    return goOn(isOver, seconds + 600);
  };
  await rest(60);
  const { requests, dnsReads } = await rest(300);
  const reads = (requests.GET ?? 0) + (requests.poll ?? 0);
  const writes = (requests.PUT ?? 0) + (requests.PATCH ?? 0) + (requests.DELETE ?? 0);
  const rows = [
    atMost(of("Azure writes in 5 minutes"), writes, "", 0),
    atMost(of("reads in 5 minutes of those that the identity has"), reads / (25 * 300), "x", 0.1),
    atMost(
      of("DNS reads in 5 minutes of those that the subscription has"),
      dnsReads / 500,
      "x",
      0.1,
    ),
  ];
  const target = clusters <= 50 ? 60 : 300;
  for (const { name, act, isRepaired, operations = 1 } of damages) {
    act();
    process.stderr.write(`${name}\n`);
    const { seconds } = await goOn((_now, available) => isRepaired(available), 7_200);
    const most = target + operations * operationSeconds;
    rows.push(atMost(of(`${name}, repaired after`), seconds, "s", most));
    // What follows from the repair is not part of the next damage.
    const needsAll = name !== rejected;
    await goOn((_now, available) => !needsAll || available >= clusters, 7_200);
  }
  return rows;
}
