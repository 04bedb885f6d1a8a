import type { KubeObject } from "@postern/core/kind.ts";

/**
 * On the namespace of a control plane, for each of its links: the subnet that was created for the link or that it shares.
 * Written before the subnet is created, so that it is deleted also after a crash; a subnet that was there before us is
 * never recorded. It is on the namespace because what is recorded may be deleted, and tenants cannot write namespaces.
 */
const annotationPrefix = "nat-subnet.postern.io/";

/** The annotation of a namespace for a link. */
export function natSubnetAnnotation(link: string): string {
  return `${annotationPrefix}${link}`;
}

/** The subnet that a namespace records for a link. */
export function recordedSubnetOf(
  namespace: KubeObject | undefined,
  link: string,
): string | undefined {
  return namespace?.metadata.annotations?.[natSubnetAnnotation(link)];
}
