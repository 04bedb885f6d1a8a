import { crdName, standInLabel } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { customResourceDefinition } from "@postern/core/kinds/core.ts";
import { parseBody } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { oldestKubernetes } from "../kube/oldest-kubernetes.ts";
import { crdCheck } from "../view/checks/all.ts";
import type { Finding } from "../view/checks/check.ts";
import { isHeld, operatorLeases } from "../view/presence.ts";
import { operatorPresence } from "./operator-presence.ts";
import type { Session } from "./session.ts";

const oldestMinor = Number(oldestKubernetes.split(".")[1]);
/** What a remedy asks for. */
export const supportedKubernetes = `Kubernetes 1.${oldestMinor} or later`;

const skewMs = { warning: 30_000, failed: 5 * 60_000 };

/** What needs only the Kubernetes API. */
export async function clusterFindings(
  session: Session,
  beforeInstall: boolean,
): Promise<Finding[]> {
  const reached = await reachable(session);
  if (reached.some(({ result }) => result === "failed")) return reached;
  const [version, kinds, lease] = await Promise.all([
    beforeInstall ? unlessForbidden("Kubernetes version", served(session)) : [],
    unlessForbidden(crdCheck, servedKinds(session, beforeInstall)),
    beforeInstall ? [] : unlessForbidden("Lease", leases(session)),
  ]);
  return [...reached, ...version, ...kinds, ...lease];
}

/** Run a check. Where reading is forbidden it is reported as not checked, and the other checks go on. */
async function unlessForbidden(check: string, looking: Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const found = error.explain().message;
    return [{ check, about: "Kubernetes API", result: "not checked", found }];
  }
}

/** The check that finds who is authenticated. */
export const kubernetesCheck = "Kubernetes API";

/** Whether the API server is reachable, and its clock. */
async function reachable({ kube, signal }: Session): Promise<Finding[]> {
  const about = kube.connection.server.host;
  try {
    const before = Date.now();
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const text = await kube.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      body: JSON.stringify(body),
      signal,
    });
    const review = parseBody<{
      metadata?: { creationTimestamp?: string };
      status?: { userInfo?: { username?: string } };
    }>(text);
    const username = review.status?.userInfo?.username;
    const answered: Finding = {
      check: kubernetesCheck,
      about,
      result: "ok",
      found: username ? `Authenticated as ${username}.` : "Reachable.",
    };
    const theirs = Date.parse(review.metadata?.creationTimestamp ?? "");
    return Number.isNaN(theirs)
      ? [answered]
      : [answered, clockFinding("Kubernetes", theirs, (before + Date.now()) / 2)];
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const found = error.explain().message;
    return [{ check: kubernetesCheck, about, result: "failed", found, blocks: true }];
  }
}

async function served({ kube, signal }: Session): Promise<Finding[]> {
  const text = await kube.request("GET", "/version", { signal });
  return [versionFinding(parseBody<KubernetesVersion>(text), kube.connection.server.host)];
}

interface KubernetesVersion {
  major?: string;
  /** With a plus sign at some providers. */
  minor?: string;
  gitVersion?: string;
}

/** Whether a Kubernetes is new enough for an installation. */
export function versionFinding(version: KubernetesVersion, about: string): Finding {
  const minor = Number.parseInt(version.minor ?? "", 10);
  const isOld = version.major === "1" && minor < oldestMinor;
  return {
    check: "Kubernetes version",
    about,
    result: isOld ? "failed" : "ok",
    found: `The cluster runs Kubernetes ${version.gitVersion ?? "of unknown version"}.`,
    ...(isOld && { remedy: `Upgrade the cluster: Postern needs ${supportedKubernetes}.` }),
  };
}

/** How far a server's clock is from ours. The server reports whole seconds, so one second of difference is ignored. */
export function clockFinding(server: string, theirs: number, ours: number): Finding {
  const off = Math.max(0, Math.abs(theirs - ours) - 1_000);
  const result = off > skewMs.failed ? "failed" : off > skewMs.warning ? "warning" : "ok";
  return {
    check: "clock skew",
    about: server,
    result,
    found: off === 0 ? "In sync." : `${Math.round(off / 1000)} s apart.`,
    ...(result !== "ok" && {
      remedy: "Synchronize the clock of this machine with NTP: tokens and leases depend on it.",
    }),
  };
}

interface Crd extends KubeObject {
  spec?: { versions?: { name: string; served?: boolean }[] };
  status?: { conditions?: { type: string; status: string }[] };
}

/** Whether the kinds that Postern uses are served, in the version that it needs. */
async function servedKinds({ kube, signal }: Session, beforeInstall: boolean): Promise<Finding[]> {
  const found = await Promise.all(
    definitions.map(async (definition): Promise<Finding[]> => {
      const name = crdName(definition);
      const check = crdCheck;
      const crd = await kube.get<Crd>({ kind: customResourceDefinition, name }, signal);
      if (crd === undefined) {
        if (definition.standIn || beforeInstall)
          return [{ check, about: name, result: "ok", found: "Not installed, and not required." }];
        return [
          {
            check,
            about: name,
            result: "failed",
            found: "Not installed.",
            remedy: `Install it: kubectl apply -f manifests/crds/${definition.group}_${definition.plural}.yaml`,
          },
        ];
      }
      const served = (crd.spec?.versions ?? [])
        .filter((each) => each.served)
        .map((each) => each.name);
      if (!served.includes(definition.version))
        return [
          {
            check,
            about: name,
            result: "failed",
            found: `Serves ${served.join(", ") || "no version"}, but Postern needs ${definition.version}.`,
            remedy: `Install a release of its project that serves ${definition.version}.`,
          },
        ];
      const ours = crd.metadata.labels?.[standInLabel] === "true";
      return [
        {
          check,
          about: name,
          result: "ok",
          found: `Serves ${definition.version}${ours ? ", with Postern's substitute for the project's CRD" : ""}.`,
        },
      ];
    }),
  );
  return found.flat();
}

/** Whether an operator leads: a lease that is not renewed means that none is running. */
async function leases(session: Session): Promise<Finding[]> {
  const { kube, signal, local } = session;
  const found = await operatorLeases(kube, signal);
  const check = "Lease";
  if (found.length === 0)
    return local
      ? [await localLease(session)]
      : [
          {
            check,
            about: "operator",
            result: "warning",
            found: "No operator has acquired a lease yet.",
            remedy: "Start the operator: postern operator --help",
          },
        ];
  return found.map(({ metadata, spec = {} }) => {
    const held = isHeld({ metadata, spec }, new Date());
    return {
      check,
      about: `${metadata.namespace}/${metadata.name}`,
      result: held ? "ok" : "failed",
      found: held
        ? `Held by ${spec?.holderIdentity}.`
        : "The lease is not being renewed, so no operator is running.",
      ...(!held && { remedy: "Check the operator's pods and their logs." }),
    };
  });
}

async function localLease(session: Session): Promise<Finding> {
  const about = { check: "Lease", about: "operator" };
  const { state } = await operatorPresence(session);
  if (state === "lost")
    return {
      ...about,
      result: "failed",
      found: "The operator of local mode is not running.",
      remedy: "Wait until it restarts, or restart local mode.",
    };
  return { ...about, result: "ok", found: "Local mode needs no Lease." };
}
