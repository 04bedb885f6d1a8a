import { type Clock, realClock } from "@postern/core/clock.ts";
import { serverCertificates } from "@postern/core/test-bed/certificates.ts";
import { cloudDescription } from "./arm/cloud-description.ts";
import type { Operations } from "./arm/operations.ts";
import type { World } from "./arm/resource-type.ts";
import type { Roles } from "./arm/roles.ts";
import { Throttle, type ThrottleLimits } from "./arm/throttle.ts";
import type { FaultRule } from "./control/fault-rule.ts";
import type { Faults } from "./control/faults.ts";
import { RequestLog } from "./control/request-log.ts";
import { steer } from "./control/steering.ts";
import { Traffic } from "./control/traffic.ts";
import type { Directory } from "./entra/directory.ts";
import { Entra } from "./entra/entra.ts";
import type { Machines } from "./imds/machines.ts";
import type { Sent } from "./send.ts";
import { type Listening, listen, type Parts } from "./server.ts";
import { openWorld, type WorldOptions } from "./state/open-world.ts";
import type { Snapshot } from "./state/snapshot.ts";
import type { JsonObject, Store } from "./state/store.ts";

/** How a simulator is started. Nothing need be said. */
export interface SimulatorOptions extends WorldOptions {
  host?: string;
  /** 0 for any free port. */
  port?: number;
  /** Serve over TLS too, with a certificate authority that is made once; `names` are further names of the server. */
  https?: boolean | { host?: string; port?: number; names?: readonly string[] };
  /** The name of this machine in addresses that answers give; the address that is listened on where nothing is said. */
  publicHost?: string;
  /** A `ManualClock` stands until it is moved. */
  clock?: Clock;
  limits?: Partial<ThrottleLimits>;
  /** How long a request may take to arrive. */
  arriveMs?: number;
  /** Told of every answer of Resource Manager as it goes out. */
  answered?: (sent: Sent) => void;
  /** Told of errors that are faults of the simulator itself; the request is answered with 500. */
  bug?: (error: unknown) => void;
}

/** A simulator that runs. */
export interface Simulator {
  readonly url: string;
  /** The same over TLS, where it was asked for. */
  readonly httpsUrl: string | undefined;
  /** The certificate of the authority that signed the server's, in PEM. */
  readonly ca: string | undefined;
  /** The resources. Operations that are due end whenever this is read, so read it anew for each look. */
  readonly store: Store;
  /** The operations; those that are due end whenever this is read. */
  readonly operations: Operations;
  readonly directory: Directory;
  readonly roles: Roles;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly throttle: Throttle;
  readonly world: World;
  /** The machines of the world and their metadata services. */
  readonly machines: Machines;
  /** Whether a seed was given that is not the one that the state file began with; it was not applied. */
  readonly seedIgnored: boolean;
  /** Opens the control API to those who do not come over loopback. */
  readonly controlToken: string;
  /** Let something go wrong; gives the id by which `faults` can take it back. */
  addFault(rule: FaultRule): string;
  /** The world as it is, with operations that are due ended. */
  snapshot(): Snapshot;
  /** Move a manual clock on, ending operations in the order in which they are due. */
  moveClock(ms: number): void;
  /**
   * Move a manual clock on step by step: to the next timer on it or the next end of an operation, and further only when
   * every request that this led to is answered. Whoever polls by the same clock does so as often as in real time.
   */
  advance(ms: number): Promise<void>;
  /** Whether no operation runs and no request waits for its answer. */
  quiet(): boolean;
  /**
   * Take a resource away behind everyone's back, with all that the end of a delete brings about. No request is logged or
   * counted, and no operation runs. What Azure would not delete is refused with the error that it gives.
   */
  drop(id: string): void;
  /**
   * Write a resource behind everyone's back, as a PUT of someone who may do everything, and have it done. No request is
   * logged or counted. What Azure would refuse is refused with the error that it gives.
   */
  change(id: string, body: JsonObject): void;
  /** Write what has changed to the state file now; requests do it by themselves. */
  flush(): void;
  close(): Promise<void>;
}

/** Start an Azure that runs here: Resource Manager and Entra behind one address. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? realClock;
  const opened = openWorld(options, clock);
  const { world, faults, state, settings, seedIgnored } = opened;
  const { store, operations, directory, roles, guid } = world;
  const log = new RequestLog();
  const throttle = new Throttle({ clock, ...(options.limits && { limits: options.limits }) });
  const whenPersisted = (then: () => void) => (state ? state.whenPersisted(then) : then());
  const bug = options.bug && { bug: options.bug };
  const traffic = new Traffic();
  const steering = steer(opened, { clock, log, throttle, traffic, whenPersisted, ...bug });
  const entra = new Entra({ directory, clock, log, guid, whenPersisted, ...bug });
  const pages = [steering.control, cloudDescription, entra];
  const answered = options.answered && { answered: options.answered };
  const shared = {
    directory,
    operations,
    throttle,
    faults,
    log,
    clock,
    traffic,
    whenPersisted,
    pages,
  };
  /** A request over TLS gets operation URLs over TLS: clients refuse to follow others. */
  const partsFor = (base: () => string): Parts => ({
    ...shared,
    arm: opened.armFor(base),
    armAt: (time) => opened.armFor(base, steering.storeAt(time)),
    ...bug,
    ...answered,
  });
  const https = options.https === true ? {} : options.https || undefined;
  const certificates = https && serverCertificates(settings, namesOf(options, https.names));
  state?.flush();
  const { plain, tls } = await serve(partsFor, options, certificates?.server).catch(
    (error: unknown) => {
      state?.close();
      throw error;
    },
  );
  directory.acceptAudience(plain.url);
  if (tls) {
    directory.acceptAudience(tls.url);
    directory.acceptAudience(tls.url.replace("127.0.0.1", "localhost"));
  }
  const { machines, controlToken, addFault, snapshot, moveTo } = steering;
  const { advance, quiet, drop, change } = steering;
  return {
    url: plain.url,
    httpsUrl: tls?.url,
    ca: certificates?.ca,
    get store() {
      operations.settle();
      return store;
    },
    get operations() {
      operations.settle();
      return operations;
    },
    directory,
    roles,
    faults,
    log,
    throttle,
    world,
    machines,
    seedIgnored,
    controlToken,
    addFault,
    snapshot,
    moveClock: (ms) => moveTo(clock.now() + ms),
    advance,
    quiet,
    drop,
    change,
    flush: () => state?.flush(),
    close: async () => {
      await Promise.all([plain.close(), tls?.close(), machines.close()]);
      state?.close();
    },
  };
}

/** Listen in the open and, with a certificate, over TLS; where one cannot be had, the other is given up too. */
async function serve(
  partsFor: (base: () => string) => Parts,
  options: SimulatorOptions,
  certificate: { certificate: string; key: string } | undefined,
): Promise<{ plain: Listening; tls: Listening | undefined }> {
  const { host = "127.0.0.1", port = 0, arriveMs, publicHost } = options;
  const manner = {
    ...(arriveMs !== undefined && { arriveMs }),
    ...(publicHost !== undefined && { publicHost }),
  };
  const at = { plain: "", tls: "" };
  const plain = await listen(
    partsFor(() => at.plain),
    { ...manner, host, port },
  );
  at.plain = plain.url;
  if (!certificate) return { plain, tls: undefined };
  const https = typeof options.https === "object" ? options.https : {};
  const tls = await listen(
    partsFor(() => at.tls),
    {
      ...manner,
      host: https.host ?? host,
      port: https.port ?? 0,
      tls: { cert: certificate.certificate, key: certificate.key },
    },
  ).catch(async (error: unknown) => {
    await plain.close();
    throw error;
  });
  at.tls = tls.url;
  return { plain, tls };
}

function namesOf({ publicHost }: SimulatorOptions, names: readonly string[] = []): string[] {
  // A certificate has an IPv6 address without the brackets of a URL.
  return publicHost === undefined ? [...names] : [...names, publicHost.replace(/^\[|\]$/g, "")];
}
