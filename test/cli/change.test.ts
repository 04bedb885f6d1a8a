import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { apiVersions } from "postern/azure/gateways/api-versions.ts";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { hostedClusters, type Thing } from "../local/running.ts";
import { root } from "../package/run-bin.ts";
import { golden, guests, management, unnamed, useCommands } from "./commands.ts";

const on = useCommands();
const slow = 240_000;
const network = "providers/Microsoft.Network";
const until = (what: () => Promise<unknown>) => expect.poll(what, { timeout: 90_000 });

interface Link {
  metadata: { uid: string };
  status: { privateLinkServiceID: string; privateEndpointID: string; privateDNSZoneID: string };
}
const linkOf = async (name: string) => {
  const path = `/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-${name}/azureprivatelinkservices/private-router`;
  return (await on.local.kube<Link>("GET", path)).body;
};

describe("a plan of a cluster whose identity is missing", () => {
  test(
    "is exit code 1 for every controller that reads by it: nobody knows whether something would change",
    async () => {
      const identities =
        "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org/azureclusteridentities";
      const { body } = await on.local.kube<{ spec: object }>("GET", `${identities}/azure`);
      await on.local.kube("DELETE", `${identities}/azure`);
      const { exitCode, stdout } = await on.run("plan", "org/amber", "-o", "json");
      expect(exitCode).toBe(1);
      const { plans } = JSON.parse(stdout) as {
        plans: { controller: string; unread?: object[]; failure?: object }[];
      };
      const unknown = plans.filter(({ unread, failure }) => unread ?? failure);
      expect(unknown.map(({ controller }) => controller).toSorted()).toEqual([
        "dns",
        "private-links",
        "workload-endpoints",
      ]);
      const metadata = { namespace: "org", name: "azure" };
      const identity = { ...body, metadata };
      expect((await on.local.kube("POST", identities, identity)).status).toBe(201);
      await until(async () => (await on.run("plan", "org/amber")).exitCode).toBe(0);
    },
    slow,
  );
});

describe("an endpoint that is deleted behind everybody's back", () => {
  test(
    "is planned with its reason, breaks the tree and the trace, and is made anew",
    async () => {
      const endpoint = `${guests}/blue/${network}/privateEndpoints/private-router-pe`;
      const allow = await on.refuse("Microsoft.Network/privateEndpoints/write");
      await on.change(endpoint);
      const plan = await on.run("plan", "blue");
      expect(plan.exitCode).toBe(2);
      expect(plan.stdout).toMatch(/\+ Create private endpoint \S+: \S/);
      expect(plan.stdout).toContain("can start now.");
      const asData = await on.run("plan", "clusters/blue", "-o", "json");
      expect(asData.exitCode).toBe(2);
      const { plans } = JSON.parse(asData.stdout) as { plans: { steps: { why: string }[] }[] };
      expect(plans.flatMap(({ steps }) => steps).every(({ why }) => why.length > 0)).toBe(true);
      expect((await on.run("tree", "blue")).exitCode).toBe(3);
      expect(await on.run("trace", "api-blue.example.com", "--from", "blue")).toMatchObject({
        exitCode: 3,
        stdout: expect.stringContaining("✗ endpoint 192.168.0.4"),
      });
      // The other cluster is as it was.
      expect((await on.run("plan", "green")).exitCode).toBe(0);
      await allow();
      await until(async () => (await on.local.azure(endpoint, apiVersions.network)).status).toBe(
        200,
      );
      await until(async () => (await on.run("plan", "blue")).exitCode).toBe(0);
    },
    slow,
  );
});

describe("an endpoint that is deleted while no operator runs", () => {
  test(
    "contradicts the conditions: tree, plan, trace and doctor say so and request a reconcile",
    async () => {
      const endpoint = `${guests}/green/${network}/privateEndpoints/private-router-pe`;
      const requested = async () => {
        const { body } = await on.local.kube<Thing>("GET", `${hostedClusters}/green`);
        return body.metadata.annotations?.["postern.io/requested-at"];
      };
      const killed = await fetch(`${on.local.ready.dashboard.url}/api/actions/kill-leader`, {
        method: "POST",
        headers: { "x-postern": "1", "content-type": "application/json" },
        body: JSON.stringify({ target: "" }),
      });
      expect(killed.status).toBe(200);
      await on.change(endpoint);
      const questions = [["tree"], ["plan"], ["trace", "api.green.hypershift.local"], ["doctor"]];
      const before = await requested();
      const all = await Promise.all(questions.map((args) => on.run(...args)));
      const line =
        /^The conditions of clusters\/green contradict what was observed; .*reconcile\.\n$/;
      for (const { stderr } of all) expect(stderr).toMatch(line);
      const [tree] = all;
      expect(tree?.stdout).toMatch(/✗ cluster clusters\/green {2}Unavailable .* does not exist/);
      // The others are as they were, and nobody keeps their conditions up to date.
      expect(tree?.stdout).toMatch(/– cluster clusters\/blue {2}Unknown .*No operator is running/);
      expect(all.at(-1)?.stdout).toMatch(/✗ Lease: operator\n/);
      expect(await requested()).not.toBe(before);
      await until(async () => (await on.run("plan", "green")).exitCode).toBe(0);
    },
    slow,
  );
});

describe("an endpoint of a cluster that is rejected", () => {
  test(
    "is shown as pending by a plan without steps, and recreated after it is deleted",
    async () => {
      const endpoint = `${guests}/green/${network}/privateEndpoints/private-router-pe`;
      const { body: before } = await on.local.kube<Thing>("GET", `${hostedClusters}/green`);
      expect(await on.run("reject", endpoint)).toMatchObject({ exitCode: 0, stderr: "" });
      const { body: after } = await on.local.kube<Thing>("GET", `${hostedClusters}/green`);
      const requested = ({ metadata }: Thing) => metadata.annotations?.["postern.io/requested-at"];
      expect(requested(after)).toBeDefined();
      expect(requested(after)).not.toBe(requested(before));
      const waits =
        /… \S+: PrivateEndpointConnectionRejected: .*\nNo changes\. \d+ resources? (is|are) pending\.\n/;
      await until(async () => (await on.run("plan", "green")).stdout).toMatch(waits);
      await on.change(endpoint);
      await until(async () => (await on.run("plan", "green")).stdout).toMatch(/^No changes\.\n/);
    },
    slow,
  );
});

describe("an endpoint of somebody else", () => {
  const ask = async (name: string) => {
    const { status } = await linkOf("blue");
    await on.change(`${management}/appliances/${network}/privateEndpoints/${name}`, {
      location: "westeurope",
      properties: {
        subnet: {
          id: `${management}/appliances/${network}/virtualNetworks/appliances/subnets/inside`,
        },
        manualPrivateLinkServiceConnections: [
          {
            name,
            properties: {
              privateLinkServiceId: status.privateLinkServiceID,
              requestMessage: `please, says ${name}`,
            },
          },
        ],
      },
    });
  };
  const stateOf = async (name: string) => {
    const id = `${management}/appliances/${network}/privateEndpoints/${name}`;
    const { body } = await on.local.azure(id, apiVersions.network);
    const [first] = body.properties.manualPrivateLinkServiceConnections as {
      properties: { privateLinkServiceConnectionState: { status: string; description: string } };
    }[];
    return first?.properties.privateLinkServiceConnectionState;
  };

  test(
    "is listed while it is pending, approved, and not listed afterwards",
    async () => {
      await ask("shop");
      const listed = await on.run("approve");
      expect(listed.stdout).toMatch(
        /^ENDPOINT +CLUSTER +LINK SERVICE +MESSAGE\nshop +- +pls-\S+ +\S.*\n$/,
      );
      expect(await on.run("doctor")).toMatchObject({
        stdout: expect.stringContaining("pending connections"),
      });
      expect(await on.run("approve", "shop", "--message", "welcome")).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/^Connection of shop to pls-\S+: Approved\.\n/),
      });
      expect(await stateOf("shop")).toMatchObject({ status: "Approved", description: "welcome" });
      expect((await on.run("approve")).stdout).toBe("No pending connections.\n");
    },
    slow,
  );

  test(
    "that was rejected cannot be approved, and the error says so",
    async () => {
      await ask("thief");
      expect(await on.run("reject", "thief", "-o", "json")).toMatchObject({ exitCode: 0 });
      expect(await stateOf("thief")).toMatchObject({ status: "Rejected" });
      expect(await on.run("approve", "thief")).toMatchObject({
        exitCode: 64,
        stderr: expect.stringContaining("which is final"),
      });
    },
    slow,
  );
});

describe("orphans", () => {
  const zone = (name: string) => `${guests}/blue/${network}/privateDnsZones/${name}`;
  const status = async (id: string) => (await on.local.azure(id, apiVersions.privateDns)).status;

  test(
    "of a cluster that is here are deleted, and what may be another's only by name",
    async () => {
      const { body } = await on.local.kube<{ spec: { clusterID: string } }>(
        "GET",
        `${hostedClusters}/blue`,
      );
      const ours = zone("left.example.com");
      const theirs = zone("theirs.example.com");
      const other = "99999999-9999-4999-8999-999999999999";
      await on.change(ours, {
        location: "global",
        tags: { postern_owner: `${body.spec.clusterID}/gone` },
      });
      await on.change(theirs, { location: "global", tags: { postern_owner: `${other}/x` } });
      const found = await on.run("orphans");
      expect(found.exitCode).toBe(3);
      expect(found.stdout).toMatch(/zone .* exists .*left\.example\.com/);
      expect(found.stdout).toMatch(/zone .* not found .*theirs\.example\.com/);
      expect([await status(ours), await status(theirs)]).toEqual([200, 200]);

      const deleted = await on.run("orphans", "--delete");
      expect(deleted.exitCode).toBe(3);
      expect([await status(ours), await status(theirs)]).toEqual([404, 200]);
      expect(await on.run("orphans", "--delete", "--cluster", other)).toMatchObject({
        exitCode: 0,
      });
      expect(await status(theirs)).toBe(404);
    },
    slow,
  );

  test(
    "are deleted to the last one where nobody reads any more what is said",
    async () => {
      const { body } = await on.local.kube<{ spec: { clusterID: string } }>(
        "GET",
        `${hostedClusters}/blue`,
      );
      const left = [zone("one.example.com"), zone("two.example.com")];
      for (const id of left)
        await on.change(id, {
          location: "global",
          tags: { postern_owner: `${body.spec.clusterID}/gone` },
        });
      const child = spawn(
        process.execPath,
        [join(root, "packages/postern/bin/postern.js"), "orphans", "--delete"],
        {
          env: { ...process.env, KUBECONFIG: on.local.ready.kubeconfig },
        },
      );
      child.stdout.destroy();
      const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, "close")]);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(await Promise.all(left.map(status))).toEqual([404, 404]);
    },
    slow,
  );

  test(
    "of a subscription that no object names any more are found where it is given",
    async () => {
      const owner = "99999999-9999-4999-8999-999999999999";
      const group = `/subscriptions/${unnamed}/resourceGroups/old`;
      const id = `${group}/${network}/privateDnsZones/old.example.com`;
      await on.change(group, { location: "westeurope" });
      await on.change(id, { location: "global", tags: { postern_owner: `${owner}/gone` } });
      expect((await on.run("orphans")).exitCode).toBe(0);
      expect(await on.run("orphans", "--subscription", unnamed)).toMatchObject({
        exitCode: 3,
        stdout: expect.stringContaining("old.example.com"),
      });
      const named = ["--subscription", unnamed, "--cluster", owner];
      expect((await on.run("orphans", "--delete", ...named)).exitCode).toBe(0);
      expect(await status(id)).toBe(404);
    },
    slow,
  );

  test(
    "that cannot be deleted are named with the reason, also in the wide form",
    async () => {
      const { body } = await on.local.kube<{ spec: { clusterID: string } }>(
        "GET",
        `${hostedClusters}/blue`,
      );
      const id = zone("stays.example.com");
      await on.change(id, {
        location: "global",
        tags: { postern_owner: `${body.spec.clusterID}/gone` },
      });
      const allow = await on.refuse("Microsoft.Network/privateDnsZones/delete");
      expect(await on.run("orphans", "--delete", "-o", "wide")).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(/^Deleting zone .*\nNot deleted: \S*stays\.example\.com: \S/),
      });
      await allow();
      expect((await on.run("orphans", "--delete")).exitCode).toBe(0);
    },
    slow,
  );
});

describe("adopt", () => {
  test(
    "adopts a link service that lost its owner tag, and lists it before",
    async () => {
      const { status } = await linkOf("green");
      const read = async () => {
        const { body } = await on.local.azure(status.privateLinkServiceID, apiVersions.network);
        return body as unknown as { tags?: Record<string, string>; location: string };
      };
      const before = await read();
      const { postern_owner: owner, ...tags } = before.tags ?? {};
      // The operator would write its own tag again, because the status names the service.
      await on.local.kube("PATCH", `${hostedClusters}/green`, { spec: { pausedUntil: "true" } });
      await on.change(status.privateLinkServiceID, { ...before, tags: { ...tags, team: "red" } });
      const would = await on.run("adopt", "green");
      expect(would).toMatchObject({
        exitCode: 3,
        stdout: expect.stringMatching(/link service +none +\//),
      });
      expect((await read()).tags).not.toHaveProperty("postern_owner");
      expect(await on.run("adopt", "green", "--yes")).toMatchObject({ exitCode: 0 });
      expect((await read()).tags).toMatchObject({ postern_owner: owner, team: "red" });
      expect((await on.run("adopt", "green")).exitCode).toBe(0);
      await on.local.kube("PATCH", `${hostedClusters}/green`, { spec: { pausedUntil: null } });
    },
    slow,
  );
});

describe("adopt of a zone", () => {
  test(
    "leaves alone what another management cluster claims and what an object that exists owns",
    async () => {
      const { body: cluster } = await on.local.kube<{ spec: { clusterID: string } }>(
        "GET",
        `${hostedClusters}/green`,
      );
      const link = await linkOf("green");
      const { privateDNSZoneID: zone } = link.status;
      const { clusterID } = cluster.spec;
      const read = async () => {
        const { body } = await on.local.azure(zone, apiVersions.privateDns);
        return body as unknown as { tags: Record<string, string> };
      };
      const before = await read();
      await on.local.kube("PATCH", `${hostedClusters}/green`, { spec: { pausedUntil: "true" } });
      const tagged = async (tags: Record<string, string>) => {
        await on.change(zone, { ...before, tags });
        const { stdout } = await on.run("adopt", "green", "-o", "json");
        const { candidates } = JSON.parse(stdout) as { candidates: { what: string }[] };
        return candidates.map(({ what }) => what);
      };
      const elsewhere = "99999999-9999-4999-8999-999999999999";
      expect(await tagged({ [`postern_user_${elsewhere}`]: "one" })).toEqual([]);
      expect(await tagged({ postern_owner: `${elsewhere}/one` })).toEqual([]);
      const living = `${clusterID}/${link.metadata.uid}`;
      expect(await tagged({ postern_owner: living })).toEqual([]);
      expect(await tagged({ [`postern_user_${clusterID}`]: "gone" })).toEqual(["zone"]);
      expect(await tagged({})).toEqual(["zone"]);
      expect((await on.run("adopt", "green", "--yes")).exitCode).toBe(0);
      expect((await read()).tags).toHaveProperty([`postern_user_${clusterID}`]);
      await on.change(zone, before);
      await on.local.kube("PATCH", `${hostedClusters}/green`, { spec: { pausedUntil: null } });
    },
    slow,
  );
});

describe("dump", () => {
  test(
    "is one archive, in which --redact leaves no id, address or name",
    async () => {
      const file = join(on.files, "report.tar.gz");
      expect(await on.run("dump", "--redact", "--file", file)).toMatchObject({
        exitCode: 0,
        stderr: "",
      });
      const entries = await unpackTar(gunzipSync(readFileSync(file)));
      expect(entries.map(({ header }) => header.name)).toContain("postern-dump/azure.json");
      const all = entries.map(({ data }) => Buffer.from(data ?? []).toString()).join("\n");
      expect(all.length).toBeGreaterThan(10_000);
      expect(all).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i);
      expect(all).not.toMatch(/\b192\.168\.|\b10\.\d+\.\d+\.\d+/);
      expect(all).not.toMatch(/\b(blue|green|amber|amber-vnet|inspector-\d)\b/);
      expect(all).not.toContain("for-the-demo-only");
      // A report that is there is not written over.
      expect(await on.run("dump", "--file", file)).toMatchObject({ exitCode: 64 });
    },
    slow,
  );
});

describe("dump by a credential that is worth nothing any more", () => {
  test(
    "has everything of the cluster, and says what is missing",
    async () => {
      const KUBECONFIG = on.saying("expired", ({ environment = {} }) => {
        environment.AZURE_CLIENT_SECRET = "expired";
      });
      const file = join(on.files, "expired.tar.gz");
      const dumped = await on.runWith({ KUBECONFIG }, "dump", "--file", file);
      expect(dumped).toMatchObject({ exitCode: 0, stderr: "" });
      expect(dumped.stdout).toMatch(/^Missing: azure\.json: \S/m);
      const entries = await unpackTar(gunzipSync(readFileSync(file)));
      const part = (name: string) => {
        const found = entries.find(({ header }) => header.name === `postern-dump/${name}.json`);
        return JSON.parse(Buffer.from(found?.data ?? []).toString()) as never;
      };
      const { hostedClusters: clusters } = part("kubernetes") as { hostedClusters: object[] };
      expect(clusters.length).toBeGreaterThan(0);
      expect(part("azure")).toEqual({ missing: expect.stringMatching(/\S/) });
      expect(part("about")).toMatchObject({ kubernetes: { major: "1" } });
      expect(part("events")).toContainEqual(
        expect.objectContaining({ regarding: expect.anything() }),
      );
      expect(part("doctor")).toContainEqual(
        expect.objectContaining({ check: "Azure credential", result: "failed" }),
      );
    },
    slow,
  );
});

describe("a hosted cluster", () => {
  const options = [
    ...["--base-domain", "example.com", "--location", "westeurope"],
    ...["--tenant-id", "cccccccc-0000-4000-8000-000000000000"],
    ...["--subscription-id", "bbbbbbbb-0000-4000-8000-000000000000", "--resource-group", "blue"],
    ...["--vnet-id", `${guests}/blue/${network}/virtualNetworks/blue`],
    ...["--subnet-id", `${guests}/blue/${network}/virtualNetworks/blue/subnets/workers`],
    ...["--control-plane-client-id", "eeeeeeee-0000-4000-8000-000000000004"],
  ];

  test(
    "is reached by a kubeconfig that only its owner reads, through a forwarded port where asked for",
    async () => {
      const config = {
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server: "https://in" } }],
      };
      const secretWith = (user: object) => ({
        metadata: { name: "admin-kubeconfig" },
        data: {
          kubeconfig: Buffer.from(stringify({ ...config, users: [{ name: "u", user }] })).toString(
            "base64",
          ),
        },
      });
      const secrets = "/api/v1/namespaces/clusters-blue/secrets";
      await on.local.kube("POST", secrets, secretWith({ exec: { command: "sh" } }));
      // kubectl would run it on the machine of whoever asked.
      const hostile = await on.run("cluster", "access", "blue");
      expect(hostile).toMatchObject({
        exitCode: 1,
        stdout: "",
        stderr: expect.stringContaining("names a program"),
      });
      await on.local.kube("PUT", `${secrets}/admin-kubeconfig`, secretWith({ token: "t" }));
      const direct = await on.run("cluster", "access", "blue");
      expect(direct).toMatchObject({ exitCode: 0, stderr: "" });
      expect(parse(direct.stdout)).toMatchObject({
        clusters: [{ cluster: { server: "https://in/" } }],
        users: [{ user: { token: "t" } }],
      });
      expect(direct.stdout).toContain("From elsewhere, use --port-forward");
      const file = join(on.files, "blue.kubeconfig");
      const forwarded = await on.run("cluster", "access", "blue", "--port-forward", "--file", file);
      expect(forwarded).toMatchObject({ exitCode: 0, stderr: "" });
      expect(forwarded.stdout).toContain(
        "kubectl port-forward -n clusters-blue service/kube-apiserver 6443:6443",
      );
      expect(parse(readFileSync(file, "utf8"))).toMatchObject({
        clusters: [{ cluster: { server: "https://localhost:6443" } }],
      });
      expect(statSync(file).mode & 0o777).toBe(0o600);
    },
    slow,
  );

  test.each([
    ["a merge key", "user: {<<: {exec: {command: sh}}, token: t}", []],
    ["a merge key, with a forwarded port", "user: {<<: {exec: {command: sh}}}", ["--port-forward"]],
    ["a second user", "user: {token: t}}, {name: v, user: {<<: {exec: {command: sh}}}", []],
    ["a merge key around it", "<<: {user: {exec: {command: sh}}}", []],
  ])(
    "runs no program on the machine of whoever asks for its kubeconfig: %s",
    async (_how, user, flags) => {
      const text = `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://in"}}]
users: [{name: u, ${user}}]
`;
      // What kubectl makes of it: it merges, as YAML 1.1 does.
      expect(JSON.stringify(parse(text, { merge: true }))).toMatch(/"user":\{[^}]*"exec"/);
      const secret = "/api/v1/namespaces/clusters-green/secrets";
      await on.local.kube("POST", secret, {
        metadata: { name: "admin-kubeconfig" },
        data: { kubeconfig: Buffer.from(text).toString("base64") },
      });
      const given = await on.run("cluster", "access", "green", ...flags);
      await on.local.kube("DELETE", `${secret}/admin-kubeconfig`);
      expect(given).toMatchObject({
        exitCode: 1,
        stdout: "",
        stderr: expect.stringContaining("has a field that no kubeconfig has"),
      });
    },
    slow,
  );

  const usable = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://in" } }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  const withKubeconfig = async (text: string, run: () => Promise<void>) => {
    const secrets = "/api/v1/namespaces/clusters-green/secrets";
    await on.local.kube("POST", secrets, {
      metadata: { name: "admin-kubeconfig" },
      data: { kubeconfig: Buffer.from(text).toString("base64") },
    });
    try {
      await run();
    } finally {
      await on.local.kube("DELETE", `${secrets}/admin-kubeconfig`);
    }
  };

  test.each([
    ["plain text", "the control plane is not ready", "holds no settings"],
    ["a page of HTML", "<html><body>502</body></html>", "holds no settings"],
    ["half of it", stringify(usable).slice(0, 60), "cannot be used"],
    ["no context", stringify({ ...usable, "current-context": "d" }), 'has no context "d"'],
    [
      "no credential",
      stringify({ ...usable, users: [{ name: "u" }] }),
      "neither a token nor a client certificate",
    ],
    [
      "an authority that is no certificate",
      stringify({
        ...usable,
        clusters: [
          {
            name: "c",
            cluster: { server: "https://in", "certificate-authority-data": "aGVsbG8=" },
          },
        ],
      }),
      "certificate-authority-data is not a certificate in PEM",
    ],
  ])(
    "whose kubeconfig is %s is not written, and one line says why",
    (_what, kubeconfig, why) =>
      withKubeconfig(kubeconfig, async () => {
        const file = join(on.files, "unusable.kubeconfig");
        for (const more of [[], ["--port-forward"], ["--file", file]]) {
          const ended = await on.run("cluster", "access", "green", ...more);
          expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
          expect(ended.stderr).toContain(why);
          expect(ended.stderr).toContain("in Secret clusters-green/admin-kubeconfig");
          expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
        }
        expect(existsSync(file)).toBe(false);
      }),
    slow,
  );

  test(
    "without a Service of its API server has no port to forward",
    () =>
      withKubeconfig(stringify(usable), async () => {
        const pause = (pausedUntil: string | null) =>
          on.local.kube("PATCH", `${hostedClusters}/green`, { spec: { pausedUntil } });
        const services = "/api/v1/namespaces/clusters-green/services";
        const forward = () => on.run("cluster", "access", "green", "--port-forward");
        expect((await forward()).exitCode).toBe(0);
        await pause("true");
        const held = { metadata: { finalizers: ["example.com/held"] } };
        await on.local.kube("PATCH", `${services}/kube-apiserver`, held);
        await on.local.kube("DELETE", `${services}/kube-apiserver`);
        const dying = await forward();
        await on.local.kube("PATCH", `${services}/kube-apiserver`, {
          metadata: { finalizers: null },
        });
        const missing = await forward();
        await pause(null);
        for (const ended of [dying, missing])
          expect(ended).toMatchObject({
            exitCode: 1,
            stdout: "",
            stderr: expect.stringMatching(
              /^postern: .*Service clusters-green\/kube-apiserver.*\n$/,
            ),
          });
        expect(dying.stderr).toContain("is being deleted");
        expect(missing.stderr).toContain("does not exist");
        await until(async () => (await forward()).exitCode).toBe(0);
      }),
    slow,
  );

  test(
    "whose kubeconfig cannot be written to a file is a mistake in the command, and no bug",
    () =>
      withKubeconfig(stringify(usable), async () => {
        const file = join(on.files, "no-such-folder", "kubeconfig");
        const ended = await on.run("cluster", "access", "green", "--file", file);
        expect(ended).toMatchObject({ exitCode: 64, stdout: "" });
        expect(ended.stderr).toContain(`cannot write ${file}: ENOENT`);
      }),
    slow,
  );

  test(
    "with a private zone that does not exist is rejected, and nothing is created",
    async () => {
      const id = `${guests}/blue/${network}/privateDnsZones/zoned.example.com`;
      const refused = await on.run(
        "cluster",
        "create",
        "zoned",
        ...options,
        "--private-zone-id",
        id,
      );
      expect(refused).toMatchObject({ exitCode: 64, stdout: "" });
      expect(refused.stderr).toContain("does not exist: create it, correct the id");
      expect((await on.local.kube("GET", `${hostedClusters}/zoned`)).status).toBe(404);
    },
    slow,
  );

  test(
    "is rendered without being made, made, not made twice, and destroyed with all that it had",
    async () => {
      const rendered = await on.run("cluster", "create", "new", ...options, "--render");
      expect(rendered).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/^apiVersion: hypershift/),
      });
      await expect(golden(rendered.stdout)).toMatchFileSnapshot("golden/cluster-create.txt");
      expect((await on.local.kube("GET", `${hostedClusters}/new`)).status).toBe(404);
      const created = await on.run("cluster", "create", "new", ...options);
      expect(created).toMatchObject({ exitCode: 0, stderr: "" });
      expect(await on.run("cluster", "create", "new", ...options)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("already exists"),
      });
      expect(await on.run("tree", "new")).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining("cluster clusters/new"),
      });
      const destroyed = await on.run("cluster", "destroy", "new");
      expect(destroyed).toMatchObject({ exitCode: 0, stderr: "" });
      expect(destroyed.stdout).toMatch(/clusters\/new was deleted\.\n$/);
      expect((await on.local.kube("GET", `${hostedClusters}/new`)).status).toBe(404);
    },
    slow,
  );

  test(
    "that is private is destroyed to the last thing in Azure; Ctrl-C only stops the waiting",
    async () => {
      const bin = join(root, "packages/postern/bin/postern.js");
      const allow = await on.refuse("Microsoft.Network/privateEndpoints/delete");
      const child = spawn(process.execPath, [bin, "cluster", "destroy", "green"], {
        env: { ...process.env, KUBECONFIG: on.local.ready.kubeconfig },
      });
      const ended = Promise.all([text(child.stderr), once(child, "close")]);
      await once(child.stdout, "data");
      child.kill("SIGINT");
      const [stderr, [exitCode]] = await ended;
      expect({ stderr, exitCode }).toEqual({ stderr: "postern: interrupted\n", exitCode: 130 });
      await allow();
      const service = `${management}/management/${network}/privateLinkServices`;
      await until(async () => (await on.local.kube("GET", `${hostedClusters}/green`)).status).toBe(
        404,
      );
      const { body } = await on.local.azure(service, apiVersions.network);
      const names = (body as unknown as { value: { name: string }[] }).value.map(
        (each) => each.name,
      );
      // Those of the management cluster's gateway and of blue.
      expect(names.toSorted()).toEqual(["mc-gateway-privatelink", expect.stringMatching(/^pls-/)]);
    },
    slow,
  );

  test(
    "that is not destroyed in time is an error, and with --force what remains is abandoned and listed",
    async () => {
      const { status } = await linkOf("blue");
      const allow = await on.refuse("Microsoft.Network/privateEndpoints/delete");
      const inTime = ["cluster", "destroy", "blue", "--grace-period", "0.02"];
      expect(await on.run(...inTime)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("clusters/blue was not deleted within"),
      });
      const forced = await on.run("cluster", "destroy", "blue", "--grace-period", "0.5", "--force");
      expect(forced).toMatchObject({ exitCode: 3, stderr: "" });
      expect(forced.stdout).toContain(
        "clusters/blue was deleted from Kubernetes.\nThese resources remain in Azure:\n",
      );
      expect(forced.stdout).toMatch(new RegExp(`endpoint +tag +${status.privateEndpointID}\n`));
      expect(forced.stdout).toMatch(/postern orphans --subscription bbbbbbbb-\S+ --delete /);
      await allow();
      const left = await on.local.azure(status.privateEndpointID, apiVersions.network);
      expect(left.status).toBe(200);
    },
    slow,
  );
});
