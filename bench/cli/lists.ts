import { withSession } from "postern/cli/session.ts";
import { gather } from "postern/view/gather.ts";

/** All that a look lists, and nothing made of it: what a command cannot be faster than. */
await withSession({}, async ({ kube, reading: arm, signal, env }) => {
  const subscriptions = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  const { azure, unread } = await gather({ kube, arm, signal, subscriptions });
  if (unread.length > 0) throw new Error(`not read: ${unread[0]?.what}`);
  console.log(`${azure.endpoints.length} endpoints, ${azure.zones.length} zones`);
});
