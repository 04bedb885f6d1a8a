import { ownerIn } from "@postern/core/ownership.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import type { Problem } from "../../../kube/part.ts";
import { plainValue } from "../../../private-dns/records/difference.ts";
import { foundRecords, type RecordSet } from "../../../private-dns/records/observed.ts";
import type { Observed } from "../observed.ts";
import { reasons } from "../reasons.ts";
import { publicZone } from "./desired.ts";
import { isOwned, shownOwner } from "./owner.ts";

/** Names that no cluster gets in the base zone, because users and programs expect something else there. */
export const reservedNames: readonly string[] = [
  ...["www", "ftp", "mail", "email", "webmail", "smtp", "imap", "pop", "pop3", "mx", "exchange"],
  ...["autodiscover", "autoconfig", "lyncdiscover", "sip", "enterpriseregistration"],
  ...["enterpriseenrollment", "msoid", "ns", "dns", "ntp", "ldap", "kerberos", "wpad", "isatap"],
  ...["vpn", "remote", "gateway", "ingress", "proxy", "bastion", "api", "apiserver", "console"],
  ...["oauth", "auth", "login", "sso", "idp", "accounts", "account", "admin", "portal"],
  ...["dashboard", "status", "support", "help", "docs", "blog", "shop", "cdn", "static", "assets"],
  ...["git", "registry", "monitoring", "grafana", "localhost"],
];

/** The same with a number, such as `ns1` and `www2`. */
const numbered = /^(www|ns|mx|mail|smtp|vpn|dns)\d+$/;

/**
 * Why a cluster does not get its name; undefined where it does. Nothing is written for it then, and nothing is deleted.
 *
 *   in the base zone                              the name                          →
 *   a delegation with our mark                                                      it is ours
 *   -                                             reserved, or not a single label   NameReserved
 *   -                                             an older Cluster's, or that of    NameTaken
 *                                                 the management cluster
 *   a record set of that name, or below it        any                               NameTaken, unless it is the delegation to
 *                                                                                   the zone of this cluster, which nobody marked
 */
export function nameRefusal(observed: Observed): Problem | undefined {
  const { cluster, domains, namesake } = observed;
  if (delegationOf(observed) !== undefined) return undefined;
  const name = cluster.name.toLowerCase();
  const refuse = (reason: string, why: string): Problem => ({
    reason,
    message: `no DNS records are written for ${domains.cluster} · ${why} · give the cluster another name`,
  });
  if (name.includes(".")) return refuse(reasons.nameReserved, "a cluster name is a single label");
  if (reservedNames.includes(name) || numbered.test(name) || !/^[a-z0-9]/.test(name))
    return refuse(reasons.nameReserved, `the name ${name} is reserved`);
  // Another namespace does not learn who owns it.
  if (namesake === "management")
    return refuse(reasons.nameTaken, "it is the name of the management cluster");
  if (namesake === "older")
    return refuse(reasons.nameTaken, "an older Cluster in another namespace has the same name");
  const foreign = baseRecords(observed).find((each) => !isOwned(each.metadata, observed));
  if (foreign === undefined || isDelegationToUs(observed, foreign)) return undefined;
  const owner = ownerIn(foreign.metadata);
  const ofOwner = owner === undefined ? "" : ` of ${shownOwner(owner, observed)}`;
  return refuse(
    reasons.nameTaken,
    `the zone ${domains.base} has a record set ${foreign.name} of type ${foreign.type}${ofOwner}`,
  );
}

/** The delegation of the cluster in the base zone, if it has our mark: only the operator writes there. */
export function delegationOf(observed: Observed): RecordSet | undefined {
  return baseRecords(observed).find(
    (each) => isDelegation(observed, each) && isOwned(each.metadata, observed),
  );
}

/**
 * A delegation that nobody marked and that leads to the zone of this cluster: the operator before us wrote it. One of the zone's name
 * servers is enough, because somebody may have changed the others. Without any it may be anybody's.
 */
export function isDelegationToUs(observed: Observed, found: RecordSet): boolean {
  if (!isDelegation(observed, found) || ownerIn(found.metadata) !== undefined) return false;
  const observation = publicZone(observed)?.observation;
  const servers = observation?.state === "exists" ? observation.resource.nameServers : [];
  const own = new Set(servers.map(plainValue));
  return found.values.some((each) => own.has(plainValue(each)));
}

/** The record sets of the base zone under the name of the cluster. */
export function baseRecords({ zones }: Observed): RecordSet[] {
  const base = zones.find(({ role }) => role === "base");
  return base ? foundRecords(base).map(({ id, found }) => ({ ...found, name: nameOf(id) })) : [];
}

function isDelegation({ cluster }: Observed, { type, name }: RecordSet): boolean {
  return type === "NS" && name.toLowerCase() === cluster.name.toLowerCase();
}
