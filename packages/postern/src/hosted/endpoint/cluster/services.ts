import { plainName } from "@postern/core/dns-name.ts";
import { isIp } from "@postern/core/ip.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import { act, done, type Part } from "../../../kube/part.ts";
import { externalDnsAnnotation } from "../../hostnames.ts";
import { conditions, privateRouter } from "../../names.ts";
import type { Observed } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { EndpointStep } from "../steps.ts";

/** On the Services from which external-dns reads the addresses of a private cluster. */
export const externalLabel = "hypershift.openshift.io/azure-pls-external-private-svc";

/** Addresses for external-dns that are no external name. */
export const targetAnnotation = "external-dns.alpha.kubernetes.io/target";

/** The Service of each published part. */
export const externalServices = {
  APIServer: "kube-apiserver-private-external",
  OAuthServer: "oauth-private-external",
} as const;

/**
 * The ExternalName Services of the router's link:
 *
 *   the cluster is   published by a Route with a name   →
 *   private only     yes                                one that points to the endpoint's address
 *   private only     yes, and it is withheld            none is created or changed
 *   private only     no                                 none
 *   public too       either                             none
 *
 * One that lacks HyperShift's label is somebody else's: it is neither changed nor deleted.
 */
export function planServices(
  observed: Observed,
  addresses: readonly string[] | undefined,
): Part<EndpointStep> {
  const { cluster, object } = observed;
  if (object.name !== privateRouter || cluster === undefined) return done;
  const steps: EndpointStep[] = [];
  const taken: string[] = [];
  for (const part of ["APIServer", "OAuthServer"] as const) {
    const name = externalServices[part];
    const found = observed.services.find(({ metadata }) => metadata.name === name);
    const hostname = cluster.public ? undefined : cluster.hostnames[part];
    const isOwn = found?.metadata.labels?.[externalLabel] === "true";
    if (hostname === undefined) {
      if (found !== undefined && isOwn && !found.metadata.deletionTimestamp)
        steps.push({
          on: "service",
          do: "delete Service",
          name,
          verb: "delete",
          found,
          why: "the cluster is public too",
          condition,
        });
      continue;
    }
    if (cluster.withheld?.[hostname] !== undefined) continue;
    if (addresses?.[0] === undefined) continue;
    if (found !== undefined && !isOwn) taken.push(name);
    else
      steps.push(
        ...planService(observed, name, { hostname, ...targetOf(hostname, addresses) }, found),
      );
  }
  if (taken.length === 0) return act(steps);
  const message = `the Service ${taken.join(" and ")} is not written · it exists and lacks the label ${externalLabel} · remove it`;
  return act(steps, { reason: reasons.ownedByAnother, message });
}

const condition = conditions.dns;

/** What a Service points to, as external-dns reads it. */
interface Target {
  hostname: string;
  externalName: string;
  /** Addresses that external-dns takes instead of the external name. */
  targets: string | undefined;
}

/**
 * An external name cannot be an IPv6 address. external-dns takes its annotation with targets first
 * (https://kubernetes-sigs.github.io/external-dns/latest/docs/annotations/annotations/), so the name is only for Kubernetes then.
 */
function targetOf(hostname: string, addresses: readonly string[]): Omit<Target, "hostname"> {
  const externalName = addresses.find((each) => isIp(each, 4)) ?? plainName(hostname);
  const targets = addresses.every((each) => isIp(each, 4)) ? undefined : addresses.join(",");
  return { externalName, targets };
}

function planService(
  observed: Observed,
  name: string,
  { hostname, externalName, targets }: Target,
  found: Service | undefined,
): EndpointStep[] {
  const present = found?.metadata.annotations ?? {};
  const isAsDesired =
    found?.spec?.type === "ExternalName" &&
    found.spec.externalName === externalName &&
    present[externalDnsAnnotation] === hostname &&
    present[targetAnnotation] === targets;
  if (isAsDesired) return [];
  const { controlPlaneUid } = observed.self;
  const others = found?.metadata.ownerReferences ?? [];
  const service: Service = {
    metadata: {
      namespace: observed.object.namespace,
      name,
      labels: { [externalLabel]: "true" },
      annotations: {
        [externalDnsAnnotation]: hostname,
        ...(targets !== undefined && { [targetAnnotation]: targets }),
      },
      ...(observed.cluster !== undefined &&
        controlPlaneUid !== undefined &&
        others.every(({ uid }) => uid !== controlPlaneUid) && {
          ownerReferences: [
            ...others,
            {
              apiVersion: "hypershift.openshift.io/v1beta1",
              kind: "HostedControlPlane",
              name: observed.cluster.name,
              uid: controlPlaneUid,
            },
          ],
        }),
    },
    spec: { type: "ExternalName", externalName },
  };
  return [
    {
      on: "service",
      do: found === undefined ? "create Service" : "update Service",
      name,
      service,
      found,
      why: `external-dns reads the address of ${hostname} from it`,
      condition,
    },
  ];
}
