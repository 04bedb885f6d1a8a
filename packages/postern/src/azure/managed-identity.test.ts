import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { failure } from "../../../../test/azure/fake-arm.ts";
import { HurriedClock } from "../../../../test/azure/hurried-clock.ts";
import { json, type ReceivedRequest, serve } from "../../../../test/loopback.ts";
import { cloudNamed } from "./clouds.ts";
import { managedIdentity } from "./managed-identity.ts";

const cloud = cloudNamed("AzurePublicCloud");

async function metadata(
  answer: (request: ReceivedRequest, response: Parameters<typeof json>[0]) => void,
  clientId?: string,
) {
  const { url, requests } = await serve(answer);
  // Its own time-out of 5 s never ends here; the pauses of 1, 2, 4 and 10 s are over at once.
  const clock = new HurriedClock(5_000);
  const tokens = managedIdentity({ cloud, clientId, host: url, clock });
  return { tokens, requests, clock, url };
}

const token = (expires: object) => ({
  access_token: "imds-token",
  token_type: "Bearer",
  ...expires,
});

describe("a token of a managed identity", () => {
  test("is asked for as the metadata service wants it", async () => {
    const { tokens, requests } = await metadata(
      (_request, response) => json(response, 200, token({ expires_on: "1999999999" })),
      "client-1",
    );
    expect(await tokens.token()).toBe("imds-token");
    expect(await tokens.token()).toBe("imds-token");
    expect(tokens.identity).toBe("managed/client-1");
    expect(requests).toHaveLength(1);
    const { pathname, searchParams } = new URL(requests[0]?.url ?? "", "http://x");
    expect(pathname).toBe("/metadata/identity/oauth2/token");
    expect(Object.fromEntries(searchParams)).toEqual({
      "api-version": "2018-02-01",
      resource: "https://management.azure.com/",
      client_id: "client-1",
    });
    expect(requests[0]?.headers.metadata).toBe("true");
    expect(requests[0]?.headers).not.toHaveProperty("x-forwarded-for");
  });

  test("ends when it says, in seconds from now too", async () => {
    const { tokens, requests, clock } = await metadata((_request, response) =>
      json(response, 200, token({ expires_in: "3600" })),
    );
    await tokens.token();
    clock.reconcile(3_600_000);
    await tokens.token();
    expect(requests).toHaveLength(2);
  });

  test.each([404, 408, 429, 500, 503])(
    "is asked for again after %i, later each time",
    async (status) => {
      const { tokens, requests, clock } = await metadata((_request, response) =>
        requests.length <= 3
          ? json(response, status, {})
          : json(response, 200, token({ expires_on: "1999999999" })),
      );
      expect(await tokens.token()).toBe("imds-token");
      expect(clock.pausesMs).toEqual([1_000, 2_000, 4_000]);
    },
  );

  test("is asked for every ten seconds while the service is being updated, for 70 seconds", async () => {
    const { url, requests } = await serve((_request, response) => json(response, 410, {}));
    const clock = new HurriedClock(20_000);
    // On this clock the time-out of a request would end at once, so it is made never to start.
    const paused = clock.after.bind(clock);
    clock.after = (ms, fn) => (ms === 5_000 ? () => undefined : paused(ms, fn));
    const error = await failure(managedIdentity({ cloud, host: url, clock }).token());
    expect(error).toMatchObject({ code: "ImdsUnavailable", status: 410 });
    expect(requests).toHaveLength(8);
    expect(clock.pausesMs).toEqual(Array(7).fill(10_000));
  });

  test("that does not exist is not asked for again", async () => {
    const { tokens, requests } = await metadata((_request, response) =>
      json(response, 400, { error: "invalid_request", error_description: "Identity not found" }),
    );
    const error = await failure(tokens.token());
    expect(error).toMatchObject({ code: "IdentityNotFound" });
    expect(error.hint).toContain("assign the managed identity");
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["no token", {}],
    ["an empty token", { access_token: "", expires_on: "1999999999" }],
    ["no end", { access_token: "x" }],
  ])("with %s is none", async (_name, body) => {
    const { tokens } = await metadata((_request, response) => json(response, 200, body));
    expect(await failure(tokens.token())).toMatchObject({ code: "UnreadableAnswer" });
  });

  test("cannot be had where no metadata service answers, and that is said", async () => {
    const clock = new HurriedClock(5_000);
    const error = await failure(
      managedIdentity({ cloud, host: "http://127.0.0.1:1", clock }).token(),
    );
    expect(error).toMatchObject({ code: "ImdsUnavailable", status: 0 });
    expect(clock.pausesMs).toHaveLength(3);
  });
});

test("a proxy in the environment sees nothing of the metadata service", async () => {
  const trap = await serve((_request, response) => json(response, 502, {}));
  const imds = await serve((_request, response) =>
    json(response, 200, token({ expires_on: "1999999999" })),
  );
  const source = new URL("./managed-identity.ts", import.meta.url).href;
  const clouds = new URL("./clouds.ts", import.meta.url).href;
  const program = `
    import { get } from "node:http";
    import { managedIdentity } from "${source}";
    import { cloudNamed } from "${clouds}";
    const tokens = managedIdentity({ cloud: cloudNamed(), host: "${imds.url}" });
    process.stdout.write(await tokens.token());
    get("${imds.url}/control", (response) => response.resume());
  `;
  const proxy = { HTTP_PROXY: trap.url, http_proxy: trap.url, ALL_PROXY: trap.url };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { env: { PATH: process.env.PATH, ...proxy, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" } },
  );
  expect(stdout).toBe("imds-token");
  expect(imds.requests.map(({ url }) => new URL(url, "http://x").pathname)).toEqual([
    "/metadata/identity/oauth2/token",
  ]);
  // The same process does use the proxy for what knows no better: the trap works.
  expect(trap.requests.map(({ url }) => url)).toEqual([`${imds.url}/control`]);
});
