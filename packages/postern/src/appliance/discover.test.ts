import { expect, test } from "vitest";
import { json, serve } from "../../../../test/loopback.ts";
import { applianceContext } from "./context.ts";
import { discoverGWLBBackendPool } from "./discover.ts";

test.each([
  ["AzurePublicCloud", "https://management.azure.com/"],
  ["AzureUSGovernmentCloud", "https://management.usgovcloudapi.net/"],
  ["AzureChinaCloud", "https://management.chinacloudapi.cn/"],
])(
  "in %s, as the metadata service names it, a token for %s is asked for",
  async (name, audience) => {
    const provider = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute";
    const compute = {
      vmId: "1",
      resourceId: `${provider}/virtualMachines/vm`,
      azEnvironment: name,
    };
    const { url, requests } = await serve(({ url: path }, response) =>
      // Without a token nobody else is asked.
      path.includes("/identity/")
        ? json(response, 400, { error_description: "Identity not found" })
        : json(response, 200, { compute }),
    );
    const ctx = applianceContext({ imdsHost: url });
    const finding = discoverGWLBBackendPool(ctx, "inspect", { patienceMs: 0 });
    await expect(finding).rejects.toThrow(/IdentityNotFound/);
    const requested = requests.map((each) => new URL(each.url, url).searchParams.get("resource"));
    expect(requested.filter((resource) => resource !== null)).toEqual([audience]);
  },
);
