import { AzureError } from "postern/azure/errors.ts";
import { expect, test } from "vitest";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted, type Thing } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";

describeHosted("a deletion without a working credential", (start) => {
  test("lists on the HostedCluster what remains in Azure, and ends when that is abandoned", async () => {
    let dead = false;
    const world = await start({
      features: wholeChain,
      credentialOf:
        ({ guest }) =>
        () => ({
          ...guest,
          token: async (...given) => {
            if (dead) throw new AzureError({ code: "CredentialMissing", what: "sign in" });
            return guest.token(...given);
          },
        }),
    });
    const cluster = () => world.get("HostedCluster", "clusters", "one");
    const messageOf = (thing: Thing | undefined) =>
      thing?.status?.conditions?.find(({ type }) => type === available)?.message ?? "";
    const events = async (reason: string) =>
      ((await world.list("Event", "clusters")) as unknown as { reason: string; note: string }[])
        .filter((each) => each.reason === reason)
        .map(({ note }) => note);
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const made = await world.make(hostedClusterObject("clusters", "one"));
    await world.until(
      "it is not available",
      async () => world.condition(await cluster(), available) === "True AzureSuccess",
    );
    const link = await world.get("AzurePrivateLinkService", "clusters-one", "private-router");
    const { privateEndpointID, privateDNSZoneID, baseDomainDNSZoneID } = link?.status ?? {};
    const remaining = [privateEndpointID, privateDNSZoneID, baseDomainDNSZoneID].join(", ");

    dead = true;
    await world.remove(made);
    await world.until(
      "it is not reported",
      async () => world.condition(await cluster(), available) === "False CleanupFailed",
    );
    expect(messageOf(await cluster())).toContain(remaining);
    expect((await events("CleanupFailed"))[0]).toContain(remaining);
    await world.advance(30 * 60_000);
    expect(await cluster()).toBeDefined();
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);

    await world.patch(made, {
      metadata: { annotations: { "postern.io/abandon-guest-resources": "true" } },
    });
    await world.until("it is still there", async () => (await cluster()) === undefined);
    const [note] = await events("GuestResourcesAbandoned");
    expect(note).toContain(remaining);
    expect(world.azure.at(String(privateEndpointID))).toBeDefined();
  });
});
