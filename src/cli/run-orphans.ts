import type { ResourceGateway } from "../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { privateEndpoints } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../azure/gateways/private-link-services.ts";
import { gather } from "../view/gather.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { type Orphan, orphansIn } from "../view/orphans.ts";
import type { Unread } from "../view/world.ts";
import { finish } from "./finish.ts";
import type { Session } from "./session.ts";

/** The orphans that the credential of whoever asks can see. */
export async function findOrphans({
  kube,
  reading: arm,
  signal,
  env,
}: Session): Promise<{ orphans: Orphan[]; unread: Unread[] }> {
  // Azure first: what is made in between has its object in the second list.
  const subscriptions = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  const { azure, unread } = await gather({ kube, arm, signal, subscriptions });
  const known = await gatherKnown(kube, signal);
  return { orphans: orphansIn(azure, known), unread };
}

/** Delete an orphan, and wait until it is gone. */
export async function deleteOrphan(
  { writing: arm, signal }: Session,
  { id, what }: Orphan,
): Promise<void> {
  const gateways: Record<Orphan["what"], () => Pick<ResourceGateway<never>, "remove">> = {
    record: () => privateRecordSets(arm),
    "zone link": () => virtualNetworkLinks(arm),
    zone: () => privateDnsZones(arm),
    endpoint: () => privateEndpoints(arm),
    "link service": () => privateLinkServices(arm),
  };
  await finish(arm, await gateways[what]().remove(id), signal);
}
