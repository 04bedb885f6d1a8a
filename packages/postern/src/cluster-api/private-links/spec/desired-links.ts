import { type Cidr, contains, formatCidr, parseCidr } from "@postern/core/cidr.ts";
import { isIp, parseIp } from "@postern/core/ip.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  childId,
  parentOf,
  type ResourceId,
  resourceIn,
  sameId,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import { hasLinksInSpec, privateLinksOf } from "../../requested-links.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateLink, Entry, ServiceKey, TaggedResources } from "./desired.ts";
import { asObject, entriesIn, isName, textsIn } from "./parse.ts";

type ApiServerBalancer =
  | NonNullable<AzureCluster["spec"]["networkSpec"]>["apiServerLB"]
  | null
  | undefined;

const longestName = 80;
const mostLinks = 8;
const mostAddresses = 8;
const mostShown = 64;
const mostFrontends = 64;

/** The private links that an AzureCluster requests, in any spelling. Without `resources` they are only checked. */
export function desiredLinks(
  object: AzureCluster,
  resources: TaggedResources | undefined,
): Entry<DesiredPrivateLink>[] {
  const { source, entries, problem: message } = privateLinksOf(object);
  const reason = hasLinksInSpec(object) ? reasons.invalid : reasons.invalidAnnotation;
  if (message !== undefined) return [{ problem: { scope: "links", reason, message } }];
  const names = new Set<string>();
  return entriesIn(entries).map(({ at, entry }) => {
    const where = `${source}[${at}]`;
    const link = asObject(entry);
    const name = typeof link?.name === "string" ? link.name : "";
    const what =
      link === undefined ? "it is no object" : wrong(link, name, object, resources?.group);
    const key = name.toLowerCase();
    const twice = names.has(key) ? `the name ${name} is there twice` : undefined;
    const many = names.size >= mostLinks ? `Azure allows at most ${mostLinks} of them` : undefined;
    names.add(key);
    const why = what ?? twice ?? many;
    if (why !== undefined) return problem(`private link ${name || "without a name"}`, where, why);
    if (resources === undefined)
      return problem(`private link ${name}`, where, "its place is unknown");
    return { desired: read(link ?? {}, name, resources) };
  });
}

/** What is wrong with a link; undefined where it can be created. */
function wrong(
  link: Record<string, unknown>,
  name: string,
  { spec }: AzureCluster,
  group: ResourceId | undefined,
): string | undefined {
  const balancer = spec.networkSpec?.apiServerLB;
  if (!isName(name, longestName))
    return `its name must have 1 to ${longestName} letters, digits and -_.`;
  const namesBalancer = isGiven(link.loadBalancerID);
  const isByService = isGiven(link.service);
  const unfit = isByService
    ? wrongService(link)
    : namesBalancer
      ? wrongBalancer(link.loadBalancerID, group)
      : wrongApiServerBalancer(balancer);
  if (unfit !== undefined) return unfit;
  const nat = natIn(link);
  if (nat.length === 0 || nat.length > mostAddresses)
    return `natIPConfigurations must have 1 to ${mostAddresses} entries and has ${nat.length}`;
  const subnets = (spec.networkSpec?.subnets ?? []).flatMap((each) => each?.name ?? []);
  for (const each of nat) {
    if (!isName(each.subnet, longestName)) return "a NAT address names no subnet";
    if (!subnets.includes(each.subnet))
      return `a NAT address is in subnet ${each.subnet}, which spec.networkSpec.subnets does not have`;
    if (each.isStatic && each.address === "") return "a Static NAT address has no privateIPAddress";
    const outside = each.isStatic ? wrongAddress(each.address, each.subnet, spec) : undefined;
    if (outside !== undefined) return outside;
  }
  const unfitFrontends = isByService ? undefined : wrongFrontends(link, balancer, namesBalancer);
  if (unfitFrontends !== undefined) return unfitFrontends;
  const allowed = new Set(textsIn(link.allowedSubscriptions).map(lower));
  const approved = textsIn(link.autoApprovedSubscriptions);
  const outside = approved.find((each) => !allowed.has("*") && !allowed.has(lower(each)));
  return outside === undefined
    ? undefined
    : `autoApprovedSubscriptions has ${outside}, which allowedSubscriptions has not`;
}

function wrongFrontends(
  link: Record<string, unknown>,
  balancer: ApiServerBalancer,
  namesBalancer: boolean,
): string | undefined {
  const frontends = textsIn(link.lbFrontendIPConfigNames);
  if (frontends.length === 0) return "lbFrontendIPConfigNames is empty";
  if (new Set(frontends.map(lower)).size < frontends.length)
    return "a name is in lbFrontendIPConfigNames twice";
  if (frontends.length > mostFrontends)
    return `lbFrontendIPConfigNames has more than ${mostFrontends} entries`;
  const odd = frontends.find((each) => !isName(each, longestName));
  if (odd !== undefined) return `${JSON.stringify(odd)} cannot be the name of a frontend`;
  // The frontends of another load balancer are known to Azure only.
  const known = namesBalancer
    ? []
    : (balancer?.frontendIPs ?? []).flatMap((each) => each?.name ?? []);
  const missing = frontends.find((each) => !isAmong(each, known));
  return missing === undefined
    ? undefined
    : `spec.networkSpec.apiServerLB.frontendIPs has no frontend ${JSON.stringify(missing)}`;
}

/** What is wrong with a static address. CAPZ may not have written the blocks of a subnet yet: then only Azure knows. */
function wrongAddress(
  address: string,
  subnet: string,
  { networkSpec }: AzureCluster["spec"],
): string | undefined {
  if (!isIp(address)) return `the NAT address ${address.slice(0, mostShown)} is not an address`;
  const listed = networkSpec?.subnets?.find((each) => each?.name === subnet);
  const blocks = textsIn(listed?.cidrBlocks).flatMap(blockIn);
  const ip = parseIp(address);
  if (blocks.length === 0 || blocks.some((block) => contains(block, ip))) return undefined;
  return `the NAT address ${address} is not in subnet ${subnet} (${blocks.map(formatCidr).join(", ")})`;
}

function blockIn(text: string): Cidr[] {
  try {
    return [parseCidr(text)];
  } catch {
    return [];
  }
}

/** Without frontends in the spec CAPZ names one itself: then only Azure knows. */
function isAmong(name: string, known: readonly string[]): boolean {
  return known.length === 0 || known.some((each) => lower(each) === lower(name));
}

function wrongApiServerBalancer(balancer: ApiServerBalancer): string | undefined {
  if (!balancer) return "the cluster has no spec.networkSpec.apiServerLB";
  if (balancer.type === "Internal") return undefined;
  return `spec.networkSpec.apiServerLB.type is ${balancer.type ?? "Public"} and must be Internal`;
}

/** A Service has one frontend, so nothing else may say which it is. */
function wrongService(link: Record<string, unknown>): string | undefined {
  if (serviceIn(link.service) === undefined)
    return "service is not the namespace and the name of a Service, such as envoy-gateway-system/gateway";
  if (isGiven(link.loadBalancerID)) return "it has both service and loadBalancerID";
  return textsIn(link.lbFrontendIPConfigNames).length === 0
    ? undefined
    : "it has both service and lbFrontendIPConfigNames";
}

function serviceIn(given: unknown): ServiceKey | undefined {
  if (typeof given !== "string") return undefined;
  const [namespace = "", name = "", ...more] = given.split("/");
  return more.length === 0 && isLabel(namespace) && isLabel(name) ? { namespace, name } : undefined;
}

function isLabel(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Tenants write AzureClusters: a load balancer in another group may be another cluster's. */
function wrongBalancer(given: unknown, group: ResourceId | undefined): string | undefined {
  const id = balancerId(given);
  if (id === undefined) return "loadBalancerID is not the id of a load balancer";
  if (group === undefined || sameId(parentOf(id) ?? "", group)) return undefined;
  return "loadBalancerID is not in the resource group of the cluster";
}

function balancerId(given: unknown): ResourceId | undefined {
  return tryParseResourceId(given, "Microsoft.Network/loadBalancers");
}

function read(
  link: Record<string, unknown>,
  name: string,
  resources: TaggedResources,
): DesiredPrivateLink {
  const service = serviceIn(link.service);
  return {
    name,
    ...(service && { service }),
    id: resourceIn(resources.group, "Microsoft.Network/privateLinkServices", name),
    location: resources.location,
    tags: resources.tags,
    frontends: textsIn(link.lbFrontendIPConfigNames).map((each) =>
      childId(
        balancerId(link.loadBalancerID) ?? resources.balancer,
        "frontendIPConfigurations",
        each,
      ),
    ),
    nat: natIn(link).map((each, at) => ({
      name: `${each.subnet}-natipconfig-${at + 1}`,
      subnet: resources.subnet(each.subnet),
      ...(each.isStatic && { address: each.address }),
    })),
    allowed: unique(textsIn(link.allowedSubscriptions)),
    autoApproved: unique(textsIn(link.autoApprovedSubscriptions)),
    proxyProtocol: link.enableProxyProtocol === true,
  };
}

/** The NAT addresses in the spelling of the fork or in that of upstream. */
function natIn(
  link: Record<string, unknown>,
): { subnet: string; isStatic: boolean; address: string }[] {
  const [first = [], second = []] = [link.natIPConfigurations, link.natIpConfigurations].map(
    (each) => entriesIn(each),
  );
  return (first.length > 0 ? first : second).map(({ entry }) => {
    const { subnet, allocationMethod, privateIPAddress } = asObject(entry) ?? {};
    const address = typeof privateIPAddress === "string" ? privateIPAddress : "";
    const isStatic =
      typeof allocationMethod === "string" && allocationMethod !== ""
        ? lower(allocationMethod) === "static"
        : address !== "";
    return { subnet: typeof subnet === "string" ? subnet : "", isStatic, address };
  });
}

function problem(thing: string, where: string, why: string): Entry<never> {
  const message = `${thing} cannot be created · ${where}: ${why} · correct it`;
  return { problem: { scope: "links", reason: reasons.invalid, message } };
}

function unique(texts: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const each of texts) if (!first.has(lower(each))) first.set(lower(each), each);
  return [...first.values()];
}

function lower(text: string): string {
  return text.toLowerCase();
}
