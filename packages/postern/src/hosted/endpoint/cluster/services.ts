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

/** The Service of each published part. */
export const externalServices = {
  APIServer: "kube-apiserver-private-external",
  OAuthServer: "oauth-private-external",
} as const;

/**
 * The ExternalName Services of the router's link:
 *
 *   the cluster is   published by a Route with a name   →
 *   private only     yes                                one that leads to the endpoint's address
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
          do: "remove service",
          verb: "delete",
          found,
          why: unwanted(name),
          condition,
        });
      continue;
    }
    if (cluster.withheld?.[hostname] !== undefined) continue;
    // A Service of this kind takes no IPv6 address for a name.
    const address = addresses?.find((each) => isIp(each, 4));
    if (address === undefined) continue;
    if (found !== undefined && !isOwn) taken.push(name);
    else steps.push(...written(observed, name, hostname, address, found));
  }
  if (taken.length === 0) return act(steps);
  const message = `the Service ${taken.join(" and ")} is not written · it exists and lacks the label ${externalLabel} · remove it`;
  return act(steps, { reason: reasons.ownedByAnother, message });
}

const condition = conditions.dns;
const unwanted = (name: string) => `the Service ${name} is not wanted: the cluster is public too`;

function written(
  observed: Observed,
  name: string,
  hostname: string,
  address: string,
  found: Service | undefined,
): EndpointStep[] {
  const right =
    found?.spec?.type === "ExternalName" &&
    found.spec.externalName === address &&
    found.metadata.annotations?.[externalDnsAnnotation] === hostname;
  if (right) return [];
  const { controlPlaneUid } = observed.self;
  const service: Service = {
    metadata: {
      namespace: observed.object.namespace,
      name,
      labels: { [externalLabel]: "true" },
      annotations: { [externalDnsAnnotation]: hostname },
      ...(observed.cluster !== undefined &&
        controlPlaneUid !== undefined && {
          ownerReferences: [
            {
              apiVersion: "hypershift.openshift.io/v1beta1",
              kind: "HostedControlPlane",
              name: observed.cluster.name,
              uid: controlPlaneUid,
            },
          ],
        }),
    },
    spec: { type: "ExternalName", externalName: address },
  };
  const why = `external-dns is to know where ${hostname} leads`;
  return [{ on: "service", do: "write service", service, found, why, condition }];
}
