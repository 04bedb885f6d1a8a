import type { ServerResponse } from "node:http";
import type { LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { json, serve, serveTls } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import type { Connection } from "./credentials.ts";
import { KubeError } from "./errors.ts";
import { addressRules } from "./tenant-address.ts";
import { tenantCluster } from "./tenant-cluster.ts";

const own = (server: string): Connection => ({
  server: new URL(server),
  namespace: "default",
  source: "test",
  proof: async () => ({}),
});
/** An operator in a cluster, and one on a machine where everything runs. */
const inCluster = own("https://10.0.0.1");
const onThisMachine = own("https://127.0.0.1:6443");

const base64 = (text: string) => Buffer.from(text).toString("base64");

function kubeconfig(cluster: object, user: object = { token: "canary-token" }): string {
  return JSON.stringify({
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    "current-context": "c",
  });
}

function post(from: Connection, text: string, resolve?: LookupFunction): Promise<string> {
  const given = { value: base64(text), source: "in Secret a/b" };
  return tenantCluster(
    from,
    given,
    (client) => client.request("POST", "/x", { body: "{}" }),
    resolve,
  );
}

async function refusal(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeError);
  const found = error as KubeError;
  expect(`${found.explain().message}${found.cause}`).not.toContain("canary");
  return found;
}

const answered = () => serveTls((_request, response) => json(response, 200, {}));
const clusterAt = (url: string, ca: string) => ({
  server: url,
  "certificate-authority-data": base64(ca),
});

describe("a kubeconfig that makes the operator contact an address of its choice", () => {
  test.each([
    ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "localhost"],
    ...["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "%31%32%37.0.0.1"],
    ...["①②⑦.0.0.1", "LOCALHOST"],
  ])("does not reach this machine by %s", async (host) => {
    const { port, ca, requests } = await answered();
    const error = await refusal(
      post(inCluster, kubeconfig(clusterAt(`https://${host}:${port}`, ca))),
    );
    expect(error.code).toBe("AddressNotAllowed");
    expect(requests).toEqual([]);
  });

  test.each([
    ...["169.254.169.254", "0xa9fea9fe", "169.254.0.1", "168.63.129.16", "0.0.0.0", "0", "0.1.2.3"],
    ...["224.0.0.1", "255.255.255.255", "[::]", "[fe80::1]", "[febf::1]", "[ff02::1]"],
    ...["[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[::ffff:a83f:8110]", "[::a9fe:a9fe]"],
    ...["[64:ff9b::a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:a9fe:a9fe::1]", "[2001::1]"],
  ])("does not reach %s, also where everything runs on one machine", async (host) => {
    const error = await refusal(post(onThisMachine, kubeconfig({ server: `https://${host}` })));
    expect(error.code).toBe("AddressNotAllowed");
  });

  test.each(["169.254.169.254", "127.0.0.1", "::1", "fe80::1%eth0", "not an address"])(
    "does not reach %s by a name that resolved to something else before",
    async (address) => {
      let asked = 0;
      const rebinding: LookupFunction = (_name, _options, callback) => {
        asked++;
        callback(null, [
          { address: "10.0.0.4", family: 4 },
          { address, family: address.includes(":") ? 6 : 4 },
        ]);
      };
      const text = kubeconfig({ server: "https://api.example.com" });
      expect((await refusal(post(inCluster, text, rebinding))).code).toBe("AddressNotAllowed");
      expect(asked).toBe(1);
    },
  );

  test.each(["10.0.0.4", "172.16.0.1", "192.168.0.1", "20.1.2.3", "fd00::4", "64:ff9b::1401:203"])(
    "is allowed to name %s, where API servers are",
    (address) => {
      expect(addressRules(inCluster.server).allows(address)).toBe(true);
    },
  );

  test.each(["127.0.0.1", "localhost"])(
    "reaches %s where the operator's own API server is on loopback too",
    async (host) => {
      const { port, ca, requests } = await answered();
      await post(onThisMachine, kubeconfig(clusterAt(`https://${host}:${port}`, ca)));
      expect(requests).toHaveLength(1);
    },
  );

  test("does not reach anything without TLS", async () => {
    const { url, requests } = await serve((_request, response) => json(response, 200, {}));
    const error = await refusal(post(onThisMachine, kubeconfig({ server: url })));
    expect(error.code).toBe("AddressNotAllowed");
    expect(requests).toEqual([]);
  });

  test("does not reach another address by a redirect", async () => {
    const other = await answered();
    const { url, ca } = await serveTls((_request, response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    await refusal(post(onThisMachine, kubeconfig(clusterAt(url, ca))));
    expect(other.requests).toEqual([]);
  });
});

test.each([
  ["does not verify who answers", { "insecure-skip-tls-verify": true }, /insecure-skip-tls-verify/],
  ["has a password in its address", { server: "https://u:canary@10.0.0.4" }, /user or a password/],
  [
    "goes through a proxy",
    { "proxy-url": "http://u:canary@10.0.0.4" },
    /proxies are not supported/,
  ],
])("a kubeconfig that %s is not used", async (_what, over, message) => {
  const { url, ca, requests } = await answered();
  const text = kubeconfig({ ...clusterAt(url, ca), ...over });
  const error = await refusal(post(onThisMachine, text));
  expect(error.code).toBe("UnreadableKubeconfig");
  expect(error.message).toMatch(message);
  expect(requests).toEqual([]);
});

describe("an API server that does harm by its answer", () => {
  const served = async (answer: (response: ServerResponse) => void) => {
    const { url, ca } = await serveTls((_request, response) => answer(response));
    return refusal(post(onThisMachine, kubeconfig(clusterAt(url, ca))));
  };

  test("by one without an end", async () => {
    const error = await served((response) => {
      const more = () => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    expect(error.message).toContain("the answer is longer than 65536 bytes");
  });

  test("by one that unpacks to a thousand times its size", async () => {
    const error = await served((response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.alloc(32 * 1_048_576)));
    });
    expect(error.message).toContain("cannot be unpacked");
  });

  test("by a reason and a message that are not text", async () => {
    const error = await served((response) =>
      json(response, 400, { kind: "Status", reason: { a: 1 }, message: ["x"] }),
    );
    expect(error.code).toBe("UnreadableAnswer");
  });

  test("by a long message", async () => {
    const error = await served((response) =>
      json(response, 403, { kind: "Status", reason: "x".repeat(3e4), message: "y".repeat(3e4) }),
    );
    expect(error.code).toBe("Forbidden");
    expect(error.message.length).toBeLessThan(2_100);
  });
});

test("a kubeconfig whose fields have any other type is refused, and the process goes on", async () => {
  const anything = fc.anything({ maxDepth: 2 });
  const field = fc.constantFrom("server", "tls-server-name", "certificate-authority-data", "name");
  const config = fc.record({
    "current-context": fc.oneof(fc.constant("c"), anything),
    contexts: fc.oneof(
      fc.constant([{ name: "c", context: { cluster: "c", user: "u" } }]),
      anything,
    ),
    clusters: fc.oneof(
      fc.dictionary(field, anything).map((cluster) => [{ name: "c", cluster }]),
      anything,
    ),
    users: fc.oneof(
      anything.map((token) => [{ name: "u", user: { token } }]),
      anything,
    ),
  });
  await fc.assert(
    fc.asyncProperty(config, async (value) => {
      const text = JSON.stringify(value, (_key, each: unknown) =>
        typeof each === "bigint" ? String(each) : each,
      );
      await refusal(post(inCluster, text));
    }),
  );
  const { url, ca } = await answered();
  const odd = { ...clusterAt(url, ca), "tls-server-name": { a: 1 } };
  const error = await refusal(post(onThisMachine, kubeconfig(odd)));
  expect(error.message).toContain("clusters[0].cluster.tls-server-name is not of the type");
});

describe("a kubeconfig that stalls everybody", () => {
  /** Each was quadratic, or takes the parser long: a unit of it, and what stands around it. */
  const worst: Record<string, [string, string?, string?]> = {
    "many keys": ["k#:\n"],
    "many keys in braces": ["k#: 1,", "{", "}"],
    brackets: ["["],
    braces: ["{"],
    dashes: ["- "],
    "question marks": ["?\n"],
    anchors: ["- &a# x\n"],
    aliases: ["- *a\n", "a: &a [x]\nb:\n"],
    "aliases of aliases": ["a#: &a# [*a, *a, *a]\n", "a: &a [x]\n"],
    tags: ["- !!str x\n"],
    comments: ["#\n"],
    "empty lines": ["\n"],
    carriage: ["\r"],
    colons: [":\n"],
    commas: [",", "["],
    merges: ["<<: *a\n", "a: &a {x: 1}\n"],
    "quoted lines": ["a\n", '"', '"'],
    escapes: ["\\n", '"', '"'],
    documents: ["---\na\n"],
    directives: ["%A\n"],
    errors: ["a: b: c\n"],
    "one long word": ["a"],
    spaces: [" "],
    tabs: ["\t"],
    digits: ["1", "a: "],
  };

  test.each(Object.entries(worst))("by %s", async (_what, [unit, before = "", after = ""]) => {
    // As long as it can be, and as long as a Secret can be.
    for (const length of [60_000, 1_000_000]) {
      let text = before;
      for (let at = 0; text.length < length; at++) text += unit.replaceAll("#", String(at));
      const started = performance.now();
      await refusal(post(inCluster, text + after));
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});

test("a server that did not answer in time is asked again after three minutes, and not before", async () => {
  const clock = new ManualClock();
  const { url, ca, requests } = await serveTls(() => undefined);
  const value = base64(kubeconfig(clusterAt(url, ca)));
  const ask = () =>
    refusal(
      tenantCluster(
        onThisMachine,
        { value, source: "in Secret a/b", totalMs: 300 },
        (client) => client.request("GET", "/x"),
        undefined,
        clock,
      ),
    );
  expect((await ask()).code).toBe("Timeout");
  await clock.move(179_999);
  expect((await ask()).message).toContain("is not asked");
  expect(requests).toHaveLength(1);
  await clock.move(1);
  await ask();
  expect(requests).toHaveLength(2);
});

test("a malformed kubeconfig that repeats its token in the error", async () => {
  const broken = [
    "users:\n- name: a\n  user:\n    token: canary-1: oops\n",
    "token: 'canary-2",
    "canary-3\ntoken: canary-4",
    "a: *canary-5\n",
    "a: !canary-6 b\n",
    "%canary-7\n---\na",
    "current-context: x\ncontexts: [{name: a, canary-8: }, canary-9]",
    "{canary-10",
    "\tcanary-11: x",
  ];
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on("warning", onWarning);
  for (const text of broken) await refusal(post(inCluster, text));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
