import type { Failure } from "@postern/core/failure.ts";
import { idKey, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { AzureError } from "../../azure/errors.ts";
import { virtualNetworks } from "../../azure/gateways/virtual-networks.ts";
import type { Write } from "../../azure/operations.ts";
import type { Applied } from "../../kube/feature.ts";
import { type NatNetwork, natNetwork } from "./subnets.ts";

interface Entry {
  network: NatNetwork | undefined;
  readAt: number;
  reading: Promise<NatNetwork | undefined> | undefined;
  /** The subnet that we are writing or deleting. */
  writing: ResourceId | undefined;
  /** Whether that one is being deleted. */
  removing: boolean;
  /** How many requests for it are on their way: until they are answered there is no operation to look at. */
  sending: number;
  /** Somebody else was writing to the network: leave it be until then. */
  busyUntil: number;
  /** The object that is about to make a subnet, and until when it has the right to. */
  maker: { uid: string; until: number } | undefined;
  /** How often in a row Azure said that the network is not as it was when we looked. */
  late: number;
  /** Why the last subnet could not be made: until then all are told, and nobody tries. */
  refusal: { failure: Failure; until: number } | undefined;
}

/** Whether the network takes a write now. */
export type Gate =
  | { is: "open" }
  | { is: "busy"; retryAfterMs: number }
  /** Our last write has failed; `removing` where that was a deletion, which is nothing to those who make subnets. */
  | { is: "failed"; failure: Failure; removing?: boolean };

/** How long to leave a network be that somebody else is writing to. */
const busyMs = 15_000;

const sendingMs = 2_000;
/** How long an object that was to make a subnet may take before another does. */
const makerMs = 30_000;
/** How long nobody tries what was refused without a time. */
const refusedMs = 5 * 60_000;
/** So often we look again at once and decide anew. What Azure still says then is no matter of time. */
const mostLate = 3;

/** What Azure says to a second write to a network. */
const busyCodes = new Set([
  "AnotherOperationInProgress",
  "ConflictingConcurrentWriteNotAllowed",
  "RetryableError",
  "RetryableErrorDueToAnotherOperation",
  "ReferencedResourceNotProvisioned",
]);

/** What Azure says when the network is not as it was when we looked: another took the block or the name, or the subnet. */
const staleCodes = new Set([
  "NetcfgSubnetRangesOverlap",
  "NetcfgInvalidSubnet",
  "PreconditionFailed",
  "PreconditionFailedEtagMismatch",
  "InUseSubnetCannotBeDeleted",
  "Canceled",
  "CanceledAndSupersededDueToAnotherOperation",
]);

/** The networks of the management side: looked at once for all who ask, and written to once at a time, as Azure demands. */
export class Networks {
  readonly #entries = new Map<string, Entry>();
  readonly #onSeen: (network: NatNetwork) => void;

  constructor(onRead: (network: NatNetwork) => void) {
    this.#onSeen = onRead;
  }

  /** A network as it was seen within the last `maxAgeMs`; undefined where there is none. */
  async read(
    view: ArmClient,
    id: ResourceId,
    maxAgeMs: number,
    now: number,
  ): Promise<NatNetwork | undefined> {
    const entry = this.#at(id);
    // What Azure has contradicted since is not known any more.
    const known = view.readCache.of(collectionOf(id), id, Number.POSITIVE_INFINITY);
    if (known !== undefined && entry.readAt > now - maxAgeMs) return entry.network;
    entry.reading ??= this.#read(view, id, entry, now).finally(() => {
      entry.reading = undefined;
    });
    return entry.reading;
  }

  async #read(view: ArmClient, id: ResourceId, entry: Entry, now: number) {
    const found = await virtualNetworks(view).get(id);
    entry.network = found && natNetwork(id, found);
    entry.readAt = now;
    if (entry.network) this.#onSeen(entry.network);
    return entry.network;
  }

  /** Whether a network takes a write now. What became of our last one is told once. */
  async gate(view: ArmClient, id: ResourceId, now: number): Promise<Gate> {
    const entry = this.#at(id);
    const { writing } = entry;
    if (entry.sending > 0) return { is: "busy", retryAfterMs: sendingMs };
    if (writing !== undefined) {
      const operation = await view.check(writing);
      if (operation?.state === "running")
        return { is: "busy", retryAfterMs: operation.retryAfterMs };
      if (entry.writing === writing) {
        entry.writing = undefined;
        entry.readAt = Number.NEGATIVE_INFINITY;
        entry.maker = undefined;
        if (operation?.state === "failed") {
          const { removing } = entry;
          const failure = this.#refused(entry, operation.error, now);
          if (failure) return { is: "failed", failure, removing };
        } else entry.late = 0;
      }
    }
    return now < entry.busyUntil
      ? { is: "busy", retryAfterMs: entry.busyUntil - now }
      : { is: "open" };
  }

  /** Write or delete a subnet, unless another write to the network is under way. What only came too late is no failure. */
  async write(
    network: ResourceId,
    subnet: ResourceId,
    now: number,
    send: () => Promise<Write<unknown>>,
    removing = false,
  ): Promise<Applied> {
    const entry = this.#at(network);
    if (entry.writing !== undefined && !sameId(entry.writing, subnet))
      return { state: "running", retryAfterMs: 5_000, isBegun: false };
    entry.writing = subnet;
    entry.removing = removing;
    entry.sending++;
    try {
      const write = await send();
      if (write.state === "running") return write;
      this.#over(entry, subnet);
      entry.late = 0;
      return { state: "done" };
    } catch (error) {
      this.#over(entry, subnet);
      if (!(error instanceof AzureError) || this.#refused(entry, error, now)) throw error;
      return entry.busyUntil > now
        ? { state: "running", retryAfterMs: entry.busyUntil - now, isBegun: false }
        : { state: "done", isBegun: false };
    } finally {
      entry.sending--;
    }
  }

  /**
   * Whether a link may create a subnet in a network: one at a time, so that what a thousand need is created once. The others
   * wait for it; where it was refused, they are told the same.
   */
  claimable(id: ResourceId, uid: string, now: number): Gate {
    const { refusal, maker } = this.#at(id);
    if (refusal !== undefined && now < refusal.until)
      return {
        is: "failed",
        failure: { ...refusal.failure, requeueAfterMs: refusal.until - now },
      };
    if (maker !== undefined && maker.uid !== uid && now < maker.until)
      return { is: "busy", retryAfterMs: sendingMs };
    return { is: "open" };
  }

  /** Claim the right to create a subnet, unless another link was faster. */
  tryClaim(id: ResourceId, uid: string, now: number): boolean {
    if (this.claimable(id, uid, now).is !== "open") return false;
    this.#at(id).maker = { uid, until: now + makerMs };
    return true;
  }

  #over(entry: Entry, subnet: ResourceId): void {
    if (entry.writing === subnet) entry.writing = undefined;
    entry.maker = undefined;
    entry.readAt = Number.NEGATIVE_INFINITY;
  }

  /** What to tell of an error; undefined where it only came too early or too late, and is tried again. */
  #refused(entry: Entry, error: AzureError, now: number): Failure | undefined {
    if (busyCodes.has(error.code)) entry.busyUntil = now + busyMs;
    const failure = error.explain();
    if (busyCodes.has(error.code)) return undefined;
    if (staleCodes.has(error.code) && ++entry.late < mostLate) return undefined;
    if (failure.passing !== true && !entry.removing)
      entry.refusal = { failure, until: now + (failure.requeueAfterMs ?? refusedMs) };
    return failure;
  }

  #at(id: ResourceId): Entry {
    const entry = this.#entries.get(idKey(id));
    if (entry !== undefined) return entry;
    const made: Entry = {
      network: undefined,
      readAt: Number.NEGATIVE_INFINITY,
      reading: undefined,
      writing: undefined,
      removing: false,
      sending: 0,
      busyUntil: 0,
      late: 0,
      maker: undefined,
      refusal: undefined,
    };
    this.#entries.set(idKey(id), made);
    return made;
  }
}

/** The list that a network is in. */
function collectionOf(id: ResourceId): string {
  return id.slice(0, id.lastIndexOf("/"));
}
