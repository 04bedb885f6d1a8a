import { guidFrom } from "@postern/azure-simulator/state/guid.ts";
import type { Stored } from "@postern/kubernetes-embedded/resource.ts";
import { frontendName } from "@postern/local/cloud-provider/names.ts";
import { groups, subscriptions } from "./azure.ts";
import type { World } from "./world.ts";

/** Names of all objects there ever were, by what the API server and Azure made of their uids. */
export class Names {
  readonly #names = new Map<string, string>();
  /** Link objects by the beginning of their uid, which is part of the name of a link service if its usual name is taken. */
  readonly #links = new Map<string, string>();

  constructor({ api }: World) {
    const learn = (collection: string, { metadata }: Stored) => {
      const { uid, namespace, name } = metadata;
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      this.#names.set(uid, `uid(${collection.split(".")[0]} ${key})`);
      this.#names.set(frontendName(uid), `frontend(${key})`);
      if (collection.startsWith("azureprivatelinkservices"))
        this.#links.set(uid.slice(0, 8), `${namespace} ${name}`);
    };
    for (const collection of api.store.collections())
      for (const { object } of api.store.list(collection)) learn(collection, object);
    api.store.watch(undefined, ({ collection, entry }) => learn(collection, entry.object));
  }

  /** The link object that a link service was created for, by the tags of the link service. */
  linkOf(tags: object | undefined): string | undefined {
    const { postern_owner: owner = "" } = (tags ?? {}) as { postern_owner?: string };
    return this.#links.get((owner.split("/")[1] ?? "").slice(0, 8));
  }

  /** A request with the link object in place of a name that was made unique for it. The victim's may have either name. */
  ofRequest(text: string): string {
    return this.readable(
      text
        .replace(victimNat, "on-e-infra-pls-nat")
        .replace(linkService, (name, usual: string, unique: string | undefined) => {
          const link = this.#links.get(unique ?? "");
          if (link === undefined) return name;
          return link.startsWith("blue-on-e ") ? usual : `pls(${link})`;
        }),
    );
  }

  /** A text with names in place of what differs from run to run. */
  readable(
    text: string,
    addresses?: ReadonlyMap<string, string>,
    links?: ReadonlyMap<string, string>,
  ): string {
    return text
      .replace(linkService, (name) => links?.get(name.toLowerCase()) ?? name)
      .replace(natSubnet, (name) => links?.get(name.toLowerCase()) ?? name)
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, (guid) => {
        const known = this.#names.get(guid.toLowerCase());
        return known ?? (constants.has(guid.toLowerCase()) ? guid : "(guid)");
      })
      .replace(/\ba[0-9a-f]{31}\b/g, (name) => this.#names.get(name) ?? name)
      .replace(/\b10\.[78]\.\d+\.\d+\b(?!\/)/g, (ip) => addresses?.get(ip) ?? "(address)");
  }
}

/** The name of a link service: the usual one, and what makes it unique. */
const linkService =
  /\b(pls-(?:[a-z-]+-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-([0-9a-f]{8}))?\b/gi;

/** The victim's NAT subnet, where another cluster has its infraID. */
const victimNat = new RegExp(`\\bon-e-infra-${guidFrom("victim")}-pls-nat\\b`, "i");

/** The name of the NAT subnet of one cluster. */
const natSubnet = /\b[a-z0-9-]+-pls-nat\b/gi;

/** Guids that mean something in every run; all others are made up by the simulator. */
const constants = new Set<string>();

/** Say that a guid is the same in every run. */
export function constant(guid: string): string {
  constants.add(guid.toLowerCase());
  return guid;
}
for (const each of Object.values(subscriptions)) constant(each);

/** Everything that exists, in readable form: by its id or its collection and key. */
export interface State {
  azure: Map<string, string>;
  kubernetes: Map<string, string>;
}

/** Observe both worlds. */
export function stateOf(world: World, names: Names): State {
  const { resources } = world.azure.simulator.snapshot();
  // A clusterID and an infraID can be anybody's: then one of two resources has another name, and nothing else differs.
  const links = new Map<string, string>();
  for (const [id, { top }] of Object.entries(resources)) {
    const link = names.linkOf((top as { tags?: object }).tags);
    if (link !== undefined && /\/privateLinkServices\/[^/]+$/i.test(id))
      links.set(id.split("/").at(-1)?.toLowerCase() ?? "", `pls(${link})`);
  }
  for (const { collection, object } of world.objects()) {
    const { name, annotations = {} } = object.metadata;
    if (collection !== "namespaces") continue;
    for (const [key, id] of Object.entries(annotations)) {
      const subnet = id.split("/").at(-1)?.toLowerCase() ?? "";
      if (!key.startsWith("nat-subnet.postern.io/") || !subnet.endsWith("-pls-nat")) continue;
      const users = [links.get(subnet)?.slice("nat(".length, -1), name];
      const all = [...new Set(users.filter((each) => each !== undefined))];
      links.set(subnet, `nat(${all.join(" and ")})`);
    }
  }
  const addresses = new Map<string, string>();
  for (const [id, { properties }] of Object.entries(resources)) {
    const found = JSON.stringify(properties).matchAll(/"privateIPAddress":"([^"]+)"/g);
    if (!/\/(networkInterfaces|frontendIPConfigurations)\/[^/]+$/i.test(id)) continue;
    for (const [, ip = ""] of found)
      addresses.set(ip, `address(${names.readable(id.split("/").at(-1) ?? "", undefined, links)})`);
  }
  const azure = new Map<string, string>();
  for (const [id, { state, top, properties }] of Object.entries(resources)) {
    const text = JSON.stringify({ state, ...top, properties }, (key, value: unknown) =>
      madeUp.has(key) ? undefined : value,
    );
    const key = names.readable(`${id}${endpointOf(text)}`, undefined, links);
    const found = names.readable(text, addresses, links);
    // Which of the free blocks of the network a cluster gets says nothing.
    const isNat = /\/subnets\/nat\([^/]*$/.test(key);
    azure.set(key, isNat ? found.replace(/"addressPrefix":"[^"]*"/, '"addressPrefix":""') : found);
  }
  const kubernetes = new Map<string, string>();
  for (const { collection, object } of world.objects()) {
    // Events are history and not state.
    if (collection === "events" || collection.startsWith("customresourcedefinitions")) continue;
    const { namespace, name } = object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    kubernetes.set(`${collection} ${key}`, names.readable(plain(object), addresses, links));
  }
  return { azure, kubernetes };
}

/** Connections of one link service are told apart by their endpoints: what else is in their names is made up. */
function endpointOf(text: string): string {
  const endpoint = /"privateEndpoint":\{"id":"([^"]+)"/.exec(text)?.[1];
  return endpoint === undefined ? "" : ` of ${endpoint}`;
}

/** What Azure makes up anew for everything that is created. */
const madeUp = new Set(["etag", "resourceGuid", "linkIdentifier", "internalId"]);

const noise = new Set([
  "resourceVersion",
  "managedFields",
  "creationTimestamp",
  "deletionTimestamp",
  "lastTransitionTime",
  // Which of the free addresses and ports of the cluster a Service gets says nothing.
  "clusterIP",
  "clusterIPs",
  "nodePort",
]);

function plain(object: Stored): string {
  return JSON.stringify(object, (key, value: unknown) => {
    if (key === "deletionTimestamp") return "set";
    if (key === "conditions" && Array.isArray(value)) return value.toSorted(byType);
    // Which controller added its finalizer first says nothing.
    if (key === "finalizers" && Array.isArray(value)) return value.toSorted();
    return noise.has(key) ? undefined : value;
  });
}

function byType(a: { type: string }, b: { type: string }): number {
  return a.type < b.type ? -1 : 1;
}

/** The attacker's own hosted cluster. The operator creates the namespace of its control plane. */
export const own = { namespace: "evil", name: "x", controlPlane: "evil-x" } as const;

/** The namespaces that the attacker has from the beginning. */
export const hostileNamespaces = ["evil", "blue-on", "kube"] as const;
/** Where the attacker may write. */
export const writable = [...hostileNamespaces, own.controlPlane] as const;

/** What belongs to the attacker in Azure. */
export const hostilePlaces = [
  `/subscriptions/${subscriptions.evil}`,
  groups.three.toLowerCase(),
] as const;
const mentionsHostile = (text: string) => hostilePlaces.some((each) => text.includes(each));
const victimGroups = [groups.blue.toLowerCase(), groups.two.toLowerCase()];
const management = groups.management.toLowerCase();
const mc = groups.mc.toLowerCase();
const dns = groups.dns.toLowerCase();

/** Names that nobody may take in the domain of all clusters. */
export const reservedHosts = ["www", "vpn", "mail", "ns", "api", "console"];

/** What differs between two states and is not the attacker's own. */
export class Comparison {
  readonly #everything: State;

  /** `everything` is what the baseline has at any time: what is not in it, the attacker has brought into the world. */
  constructor(everything: State) {
    this.#everything = everything;
  }

  differences(expected: State, found: State): string[] {
    return [...this.#kubernetes(expected, found), ...this.#azure(expected, found)];
  }

  #kubernetes(expected: State, found: State): string[] {
    const isHostile = (key: string): boolean => {
      const [, path = ""] = key.split(" ");
      const [namespace = "", name] = path.split("/");
      if (name !== undefined)
        return (
          writable.some((each) => each === namespace) ||
          !this.#everything.kubernetes.has(`namespaces ${namespace}`)
        );
      // What is in no namespace is the attacker's where the victim never has it.
      return !this.#everything.kubernetes.has(key);
    };
    const shown = (state: State) =>
      new Map(
        [...state.kubernetes]
          .filter(([key]) => !isHostile(key))
          .map(([key, text]) => [key, key.endsWith(" org-mc/mc") ? ofManagement(text) : text]),
      );
    return compare(shown(expected), shown(found), "");
  }

  #azure(expected: State, found: State): string[] {
    const known = new Set([...this.#everything.azure.keys()].map((id) => id.toLowerCase()));
    const now = new Set([...expected.azure.keys()].map((id) => id.toLowerCase()));
    const wrong: string[] = [];
    const links = new Set<string>();
    for (const [id, text] of found.azure) {
      const key = id.toLowerCase();
      if (now.has(key) || !key.startsWith(`${management}/`)) continue;
      if (!/\/privatelinkservices\/[^/]+$/.test(key)) continue;
      const fronts = [...text.matchAll(/frontendIPConfigurations\/([^"]+)"/g)].map(([, f]) => f);
      const own = fronts.every((each) => isHostileFrontend(each ?? ""));
      if (own) links.add(key);
      else wrong.push(`azure + ${id} before ${fronts.join(", ")}: ${text.slice(0, 300)}`);
    }
    for (const [id, text] of found.azure) {
      const isTheirs = hostilePlaces.some((each) => id.toLowerCase().startsWith(`${each}/`));
      const place = victimGroups.find((each) => text.toLowerCase().includes(`${each}/`));
      if (isTheirs && place !== undefined)
        wrong.push(`azure + ${id} is connected to ${place}: ${text.slice(0, 300)}`);
    }
    const isHostile = (id: string, text: string): boolean => {
      const key = id.toLowerCase();
      if (hostilePlaces.some((each) => key === each || key.startsWith(`${each}/`))) return true;
      if (now.has(key)) return false;
      if (key.startsWith(`${management}/`))
        return (
          wrong.some((each) => each.startsWith(`azure + ${id} `)) ||
          [...links].some((link) => key === link || key.startsWith(`${link}/`)) ||
          /\/networkinterfaces\/pls[-(]/.test(key) ||
          /\/loadbalancers\/kubernetes(-internal)?(-\d+)?(\/|$)/.test(key) ||
          /\/publicipaddresses\/kubernetes-frontend\(/.test(key) ||
          /\/subnets\/postern-/.test(key) ||
          /\/subnets\/(nat\((?!blue-on-e\b)|(?!on-e-infra|spare)[^/]*-pls-nat$)/.test(key)
        );
      if (known.has(key)) return false;
      if (key.startsWith(`${mc}/`))
        return (
          mentionsHostile(text.toLowerCase()) ||
          /\/networkinterfaces\//.test(key) ||
          (/\/privatednszones\/([^/.]+)\./.exec(key)?.[1] ?? "two") !== "two"
        );
      if (key.startsWith(`${dns}/`))
        return !reservedHosts.some((host) => new RegExp(`/${host}$`).test(key));
      return false;
    };
    const shown = (state: State) =>
      new Map(
        [...state.azure]
          .filter(([id, text]) => !isHostile(id, text))
          .map(([id, text]) => [
            id.toLowerCase(),
            isShared(id.toLowerCase()) ? withoutHostile(text, links) : text,
          ]),
      );
    return [...wrong, ...compare(shown(expected), shown(found), "azure ")];
  }
}

function isHostileFrontend(name: string): boolean {
  const namespace = /^frontend\(([^/]+)\//.exec(name)?.[1];
  return namespace !== undefined && !["blue", "blue-on-e"].includes(namespace);
}

/** What holds parts of several owners. Nothing of the victim's own does. */
function isShared(id: string): boolean {
  if (![management, mc, dns].some((each) => id.startsWith(`${each}/`))) return false;
  return (
    /\/(virtualnetworks|subnets|loadbalancers)\/[^/]+$/.test(id) ||
    id.endsWith("/privatelinkservices/mc-gateway-privatelink") ||
    id.startsWith(`${dns}/`)
  );
}

function withoutHostile(text: string, links: ReadonlySet<string>): string {
  const isHostile = (value: unknown): boolean => {
    const part = JSON.stringify(value).toLowerCase();
    const front = [...part.matchAll(/frontend\(([^)]+)\)/g)].some(([name]) =>
      isHostileFrontend(name),
    );
    return (
      front ||
      mentionsHostile(part) ||
      [...links].some((link) => part.includes(link.split("/").at(-1) ?? link))
    );
  };
  const filtered = (value: unknown, field?: string): unknown => {
    // A subnet of several owners is not the attacker's because something of the attacker is in it.
    if (Array.isArray(value))
      return value
        .filter((each) => field === "subnets" || !isHostile(each))
        .map((each) => filtered(each));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, each]) => [key, filtered(each, key)] as const);
    return Object.fromEntries(
      entries.filter(([, each]) => !(Array.isArray(each) && each.length === 0)),
    );
  };
  return JSON.stringify(filtered(JSON.parse(text)));
}

/** The management cluster's endpoints to the attacker's links are the attacker's, and so is what is said of them. */
function ofManagement(text: string): string {
  const { status: _, ...object } = JSON.parse(text) as Record<string, unknown>;
  return withoutHostile(JSON.stringify({ ...object, metadata: undefined }), new Set());
}

function compare(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
  prefix: string,
): string[] {
  const wrong: string[] = [];
  for (const [key, text] of found) {
    const before = expected.get(key);
    if (before === undefined) wrong.push(`${prefix}+ ${key}: ${text.slice(0, 300)}`);
    else if (before !== text)
      wrong.push(...parts(JSON.parse(before), JSON.parse(text), `${prefix}~ ${key} `));
  }
  for (const key of expected.keys()) if (!found.has(key)) wrong.push(`${prefix}- ${key}`);
  return wrong;
}

/** Where two values differ. */
function parts(a: unknown, b: unknown, path: string): string[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  const isObject = (v: unknown): v is object => typeof v === "object" && v !== null;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b))
    return [`${path}: ${JSON.stringify(a)?.slice(0, 200)} → ${JSON.stringify(b)?.slice(0, 200)}`];
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = [...new Set([...Object.keys(x), ...Object.keys(y)])];
  return keys.flatMap((key) => parts(x[key], y[key], `${path}.${key}`));
}
