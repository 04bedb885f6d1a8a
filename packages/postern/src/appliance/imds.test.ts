import { execFile } from "node:child_process";
import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { HurriedClock } from "../../../../test/azure/hurried-clock.ts";
import { json, type ReceivedRequest, serve } from "../../../../test/loopback.ts";
import { applianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import { queryIMDS, readMetadata } from "./imds.ts";
import { agentMetrics } from "./metrics-text.ts";

const machine = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm";
const compute = {
  vmId: "02aab8a4-74ef-476e-8182-f6d2ba4166a6",
  subscriptionId: "s",
  resourceGroupName: "rg",
  location: "westeurope",
  name: "vm",
  resourceId: machine,
  azEnvironment: "AzurePublicCloud",
  zone: "",
  tagsList: [{ name: "team", value: "a:b;c" }],
  vmScaleSetName: "",
  virtualMachineScaleSet: { id: "" },
};
const document = {
  compute,
  network: {
    interface: [
      {
        ipv4: { ipAddress: [{ privateIpAddress: "10.0.0.4", publicIpAddress: "" }] },
        ipv6: { ipAddress: [] },
        macAddress: "000D3AF806EC",
      },
    ],
  },
};

/** Pauses are over at once; the time-out of a request, 5 s, must not end one that is under way. */
class PatientClock extends HurriedClock {
  override after(ms: number, fn: () => void): () => void {
    return ms === 5_000 ? () => undefined : super.after(ms, fn);
  }
}

/** A metadata service that answers as told, and what asking it came to. */
async function query(
  answer: (request: ReceivedRequest, response: ServerResponse, nth: number) => void,
  options: { patienceMs?: number } = {},
) {
  let nth = 0;
  const { url, requests } = await serve((one, response) => answer(one, response, nth++));
  const clock = new PatientClock();
  const metrics = agentMetrics();
  const ctx = applianceContext({ imdsHost: url, clock, metrics, random: () => 0.5 });
  const startedAt = clock.now();
  const ended = await queryIMDS(ctx, options).then(
    (metadata) => ({ metadata }),
    (error: unknown) => ({ error }),
  );
  return { ...ended, requests, clock, metrics, tookMs: clock.now() - startedAt };
}

function codeOf(ended: object): string {
  const error = "error" in ended ? ended.error : undefined;
  return error instanceof ApplianceError ? error.code : `no error of ours: ${String(error)}`;
}

const html = (response: ServerResponse, status: number) => {
  response.writeHead(status, { "content-type": "text/html" });
  response.end("<html>Sign in to the hotel</html>");
};

describe("the metadata service", () => {
  test("is asked once, in the newest version and with the header that it wants", async () => {
    const { metadata, requests } = (await query((_request, response) =>
      json(response, 200, document),
    )) as {
      metadata?: object;
      requests: ReceivedRequest[];
    };
    expect(requests).toHaveLength(1);
    expect(requests[0]?.url).toBe("/metadata/instance?api-version=2025-04-07");
    expect(requests[0]?.headers.metadata).toBe("true");
    expect(metadata).toEqual({
      vmId: compute.vmId,
      subscriptionId: "s",
      resourceGroup: "rg",
      location: "westeurope",
      name: "vm",
      resourceId: machine,
      environment: "AzurePublicCloud",
      tags: { team: "a:b;c" },
      interfaces: [{ macAddress: "000D3AF806EC", privateIPs: ["10.0.0.4"] }],
    });
  });

  test("says in which zone the machine is", async () => {
    const zoned = { ...document, compute: { ...compute, zone: "2" } };
    const ended = await query((_request, response) => json(response, 200, zoned));
    expect(ended).toMatchObject({ metadata: { zone: "2" } });
  });

  test("is asked in the newest version that it offers where it does not know ours", async () => {
    const offer = { error: "Bad request", "newest-versions": ["2023-07-01", "2024-07-17"] };
    const { requests, ...ended } = await query(({ url }, response) =>
      url.endsWith("2024-07-17") ? json(response, 200, document) : json(response, 400, offer),
    );
    expect(ended).toHaveProperty("metadata");
    expect(requests.map(({ url }) => url.split("=")[1])).toEqual(["2025-04-07", "2024-07-17"]);
  });

  test("that offers only what it refuses is not asked for ever", async () => {
    const offer = { error: "Bad request", "newest-versions": ["2024-07-17"] };
    const { requests, ...ended } = await query((_request, response) => json(response, 400, offer));
    expect(codeOf(ended)).toBe("MetadataRefused");
    expect(requests).toHaveLength(2);
  });

  test.each([404, 410, 429, 500, 503])("that answers %i is asked again", async (status) => {
    const { metrics, ...ended } = await query((_request, response, nth) =>
      nth < 3 ? json(response, status, { error: "for now" }) : json(response, 200, document),
    );
    expect(ended).toHaveProperty("metadata");
    expect(metrics.text()).toContain(`postern_agent_imds_errors_total{status="${status}"} 3\n`);
  });

  test("that is being updated is waited for 70 s and no longer", async () => {
    const { tookMs, requests, ...ended } = await query(
      (_request, response) => json(response, 410, { error: "Gone" }),
      { patienceMs: 300_000 },
    );
    expect(codeOf(ended)).toBe("MetadataUnavailable");
    expect(tookMs).toBeGreaterThan(55_000);
    expect(tookMs).toBeLessThanOrEqual(70_000);
    expect(requests.length).toBeLessThan(15);
  });

  test("that says how long to wait is not asked before", async () => {
    const { clock, ...ended } = await query((_request, response, nth) =>
      nth === 0
        ? json(response, 429, { error: "Too many requests" }, { "retry-after": "7" })
        : json(response, 200, document),
    );
    expect(ended).toHaveProperty("metadata");
    expect(clock.pausesMs).toContain(7_000);
  });

  test.each([
    [403, "MetadataRefused"],
    [405, "MetadataRefused"],
  ])("that answers %i is not asked again", async (status, code) => {
    const { requests, ...ended } = await query((_request, response) =>
      json(response, status, { error: "no" }),
    );
    expect(codeOf(ended)).toBe(code);
    expect(ended).toMatchObject({ error: { status } });
    expect(requests).toHaveLength(1);
  });

  test.each([200, 407, 502])("that is a page of HTML with %i is none", async (status) => {
    const ended = await query((_request, response) => html(response, status));
    expect(codeOf(ended)).toBe("MetadataUnreadable");
    expect(ended).toMatchObject({ error: { status } });
    expect(String("error" in ended && ended.error)).toContain(
      `it answers ${status} with text/html`,
    );
  });

  test("that does not answer is reported as such", async () => {
    const ended = await query((_request, response) => response.destroy());
    expect(codeOf(ended)).toBe("MetadataUnreachable");
    expect(ended).toMatchObject({ error: { status: 0 } });
  });

  test.each([{}, { compute: {} }, { compute: { ...compute, resourceId: "../x" } }, [], "text"])(
    "that does not say which machine this is gives no machine: %j",
    async (body) => {
      expect(codeOf(await query((_request, response) => json(response, 200, body)))).toBe(
        "MetadataIncomplete",
      );
    },
  );

  test("is asked at most five times a second, whoever asks", async () => {
    const { url } = await serve((_request, response) => json(response, 200, document));
    const clock = new PatientClock();
    const { imds } = applianceContext({ imdsHost: url, clock });
    const request = { what: "look", path: "/instance", apiVersion: "2025-04-07" };
    await Promise.all(Array.from({ length: 11 }, () => imds.ask(request)));
    // Five at once, five a second later, and one after two seconds.
    expect(clock.pausesMs.filter((ms) => ms <= 2_000).sort()).toEqual([
      ...Array<number>(5).fill(1_000),
      2_000,
    ]);
  });
});

describe("the scale set of a machine", () => {
  const sets =
    "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/ss";

  test.each([
    ["none", {}, undefined],
    [
      "uniform",
      { resourceId: `${sets}/virtualMachines/3`, vmScaleSetName: "ss" },
      { name: "ss", mode: "Uniform" },
    ],
    [
      "flexible",
      { vmScaleSetName: "ss", virtualMachineScaleSet: { id: sets } },
      { name: "ss", mode: "Flexible" },
    ],
  ])("is reported: %s", (_name, over, scaleSet) => {
    expect(readMetadata({ compute: { ...compute, ...over } }).scaleSet).toEqual(scaleSet);
  });
});

test("a proxy in the environment sees nothing of the metadata service", async () => {
  const trap = await serve((_request, response) => json(response, 502, {}));
  const imds = await serve((_request, response) => json(response, 200, document));
  const [context, source] = ["context.ts", "imds.ts"].map(
    (file) => new URL(file, import.meta.url).href,
  );
  const program = `
    import { get } from "node:http";
    import { applianceContext } from "${context}";
    import { queryIMDS } from "${source}";
    const { name } = await queryIMDS(applianceContext({ imdsHost: "${imds.url}" }));
    process.stdout.write(name);
    get("${imds.url}/control", (response) => response.resume());
  `;
  const proxy = { HTTP_PROXY: trap.url, http_proxy: trap.url, ALL_PROXY: trap.url };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { env: { PATH: process.env.PATH, ...proxy, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" } },
  );
  expect(stdout).toBe("vm");
  expect(imds.requests).toHaveLength(1);
  // The same process does use the proxy for what knows no better: the trap works.
  expect(trap.requests.map(({ url }) => url)).toEqual([`${imds.url}/control`]);
});
