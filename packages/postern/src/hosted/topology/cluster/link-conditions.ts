import type { PlannedCondition } from "@postern/core/conditions.ts";
import { conditionOf } from "@postern/core/conditions.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { conditions, success } from "../../names.ts";
import { statusUnknown } from "../reasons.ts";

/** What one link says about one thing, in the words of a condition. */
interface Report {
  link: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
}

/**
 * The conditions of a cluster's links on the cluster itself. Links that should be there and are not count as unknown, or
 * as what their control plane says of them.
 *
 *     any link says            →
 *     False                    False, with the reason of the first that does
 *     Unknown, nothing, or
 *     something outdated       Unknown
 *     all True                 True
 *
 *     no link, control plane   →
 *     known                    the last of the five alone: why there is none
 *     HyperShift's, or absent  nothing, and earlier conditions are removed
 */
export function collected(
  links: readonly AzurePrivateLinkService[],
  expected: readonly string[],
  controlPlane?: HostedControlPlane,
): PlannedCondition[] {
  if (links.length === 0)
    return controlPlane && expected[0] ? [withoutLink(expected[0], controlPlane)] : [];
  const names = [...new Set([...expected, ...links.map(({ metadata }) => metadata.name).sort()])];
  return Object.values(conditions).map((type) => {
    const all = names.map((name) =>
      reportOf(
        name,
        links.find(({ metadata }) => metadata.name === name),
        type,
        controlPlane,
      ),
    );
    const bad = all.filter(({ status }) => status === "False");
    const unsure = all.filter(({ status }) => status === "Unknown");
    const reporting = bad.length > 0 ? bad : unsure.length > 0 ? unsure : all;
    const { status, reason } = reporting[0] ?? { status: "Unknown", reason: statusUnknown };
    const message = reporting
      .map(({ link, message }) => (names.length > 1 ? `${link}: ${message}` : message))
      .join(" · ");
    return { type, status, reason: status === "True" ? success : reason, message };
  });
}

/** A link is created when its Service has an address. */
function withoutLink(name: string, controlPlane: HostedControlPlane): PlannedCondition {
  const type = conditions.available;
  const { status, reason, message } = reportOf(name, undefined, type, controlPlane);
  if (status !== "Unknown") return { type, status, reason, message };
  const why = `${message} · Service ${name} has no address · wait for the cloud provider, or see the events of that Service`;
  return { type, status, reason, message: why };
}

/** Whether a link is Available in its present generation. */
export function isAvailable(link: AzurePrivateLinkService): boolean {
  const problem = reportOf(link.metadata.name, link, conditions.available);
  return problem.status === "True" && link.metadata.deletionTimestamp === undefined;
}

function reportOf(
  name: string,
  link: AzurePrivateLinkService | undefined,
  type: string,
  controlPlane?: HostedControlPlane,
): Report {
  const unknown = (message: string): Report => ({
    link: name,
    status: "Unknown",
    reason: statusUnknown,
    message,
  });
  if (link === undefined) {
    const refused = conditionOf(controlPlane?.status?.conditions, type);
    if (refused?.status !== "False") return unknown("there is no private link yet");
    return { link: name, status: "False", reason: refused.reason, message: refused.message };
  }
  const found = conditionOf(link.status?.conditions, type);
  if (found === undefined) return unknown("nothing is known yet");
  const { status, reason, message, observedGeneration } = found;
  const { generation } = link.metadata;
  // What is False was false before the change too; what is True must be observed again.
  if (
    status !== "False" &&
    observedGeneration !== undefined &&
    observedGeneration < (generation ?? 0)
  )
    return unknown("it has changed and is being reconciled again");
  return { link: name, status, reason, message };
}
