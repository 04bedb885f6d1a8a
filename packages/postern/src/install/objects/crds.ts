import { crdOf } from "@postern/core/crd.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { nodePool } from "@postern/core/kinds/node-pool.ts";
import { route } from "@postern/core/kinds/route.ts";
import {
  all,
  type Document,
  not,
  type ObjectTemplate,
  releaseVersion,
  setting,
  type TemplateMap,
  text,
  when,
} from "../template/template.ts";
import { hosted, labels } from "./names.ts";

/** Says which version of Postern wrote a CRD, so that an older one leaves it alone. */
export const versionAnnotation = "postern.io/version";

/**
 * The kinds that Postern brings: its own, and in HyperShift's place HyperShift's. Cluster API's and CAPZ's kinds are
 * theirs to install.
 */
export function crds(): Document {
  const enabled = all(setting("crds.enabled"), hosted);
  const replaces = setting("hosted.replaceHyperShift");
  return when<Document>(enabled, [
    crd(azurePrivateLinkService),
    when<Document>(replaces, [crd(hostedCluster), crd(hostedControlPlane), crd(nodePool)]),
    when<Document>(all(replaces, not(setting("openshift"))), crd(route)),
  ]);
}

function crd(definition: Definition): ObjectTemplate {
  // Plain data: what schemas carry beside JSON, such as symbols of TypeBox, is left out.
  const plain = JSON.parse(JSON.stringify(crdOf(definition))) as ObjectTemplate;
  const { name = "", labels: own, annotations } = plain.metadata as Record<string, TemplateMap>;
  return {
    ...plain,
    metadata: {
      name,
      labels: { ...own, ...labels },
      annotations: {
        ...annotations,
        [versionAnnotation]: text`${releaseVersion}`,
        "helm.sh/resource-policy": when(setting("crds.keep"), "keep"),
      },
    },
  };
}
