import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { annotations as capi } from "postern/cluster-api/names.ts";
import { expect, onTestFinished, test } from "vitest";
import { canaries } from "../canaries.ts";
import { serve } from "../loopback.ts";
import { azureClusterObject, identityObject, namespaces } from "./cluster-api/objects.ts";
import { onVsphere } from "./cluster-api/vsphere.ts";
import {
  frontendOf,
  guestSubscription,
  location,
  managementSubscription,
  tenant,
} from "./hosted/azure.ts";
import { hostedClusterObject } from "./hosted/objects.ts";
import { describeHosted, type HostedWorld, type Thing } from "./hosted/world.ts";

const bin = fileURLToPath(new URL("../../packages/postern/bin/postern.js", import.meta.url));

/** Each canary is a word of its own, so that a find tells what was planted where. */
class Canaries {
  readonly #planted: string[] = [];

  /** A word, and where it is planted. */
  word(where: string): string {
    this.#planted.push(where);
    return `canary${this.#planted.length}q7x`;
  }

  /** All forms, for one place. */
  texts(where: string): string[] {
    return Object.entries(canaries).map(([form, text]) => text(this.word(`${form} in ${where}`)));
  }

  /** What of it is in a text, by where it was planted. */
  foundIn(text: string): string[] {
    const found = [...text.matchAll(/canary(\d+)/gi)].map(([, number]) => Number(number));
    return [...new Set(found)].map((number) => this.#planted[number - 1] ?? String(number));
  }
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const inParts = (texts: string[], parts: number) =>
  Array.from({ length: parts }, (_, part) => texts.filter((_text, at) => at % parts === part));

describeHosted("secrets that tenants write", (start) => {
  type Made = Parameters<HostedWorld["make"]>[0];
  async function secret(
    world: HostedWorld,
    [namespace, name]: [string, string],
    data: Record<string, string>,
  ): Promise<void> {
    const encoded = Object.fromEntries(Object.entries(data).map(([k, v]) => [k, base64(v)]));
    const metadata = { namespace, name };
    const object = { apiVersion: "v1", kind: "Secret", metadata, data: encoded };
    const made = await world.make(object as Made);
    onTestFinished(() => world.remove({ ...made, kind: "Secret" }).catch(() => undefined));
  }

  /** Run a program until it ends or the test does, and keep all that it prints. */
  function run(args: string[], env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, [bin, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    return { child, ended, printed: () => printed };
  }

  /** Read a stream of server-sent events until it ends; gives what has come so far. */
  async function follow(url: string): Promise<() => string> {
    const { body } = await fetch(url, { headers: { accept: "text/event-stream" } });
    const decoder = new TextDecoder();
    let text = "";
    const reading = (async () => {
      for await (const bytes of body ?? []) text += decoder.decode(bytes, { stream: true });
    })();
    // The operator ends, and with it the stream.
    reading.catch(() => undefined);
    return () => text;
  }

  async function environment({ azure }: HostedWorld, folder: string, traces: string) {
    const { simulator } = azure;
    const application = simulator.directory.addApplication({
      tenant,
      secrets: [{ value: "hush" }],
    });
    simulator.roles.makeOwner({ ...application, tenant });
    const ca = join(folder, "ca.pem");
    await writeFile(ca, simulator.ca ?? "");
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("AZURE_"));
    return {
      ...Object.fromEntries(clean),
      NODE_EXTRA_CA_CERTS: ca,
      OTEL_EXPORTER_OTLP_ENDPOINT: traces,
      AZURE_RESOURCE_MANAGER_ENDPOINT: simulator.url,
      AZURE_AUTHORITY_HOST: simulator.httpsUrl ?? "",
      AZURE_TENANT_ID: tenant,
      AZURE_CLIENT_ID: application.appId,
      AZURE_CLIENT_SECRET: "hush",
      AZURE_SUBSCRIPTION_ID: managementSubscription,
      AZURE_RESOURCE_GROUP: "management",
      CLUSTER_AZURE_SUBSCRIPTION_ID: guestSubscription,
      CLUSTER_AZURE_CLIENT_ID: application.appId,
      CLUSTER_AZURE_TENANT_ID: tenant,
      CLUSTER_AZURE_CLIENT_SECRET: "hush",
    };
  }

  test("are in no log, event, condition, dump, trace, metric, page or stream", async () => {
    const planted = new Canaries();
    const world = await start({ features: () => [], simulator: { https: true } });
    const { simulator } = world.azure;
    const folder = await mkdtemp(join(tmpdir(), "postern-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const traces = await serve((_request, response) => response.end("{}"));
    const env = await environment(world, folder, traces.url);
    await namespaces(world, "clusters", "org", "org-mc");

    // In the answers of Azure, which may repeat what was sent.
    const types = [
      ...["loadBalancers", "privateLinkServices", "privateEndpoints", "virtualNetworks"],
      ...["privateDnsZones", "networkInterfaces"],
    ];
    const answers = inParts(planted.texts("an answer of Azure"), types.length);
    const faults = answers.map((said, at) =>
      simulator.addFault({
        match: { type: `Microsoft.Network/${types[at]}` },
        effect: {
          kind: "answer",
          status: 400,
          body: { error: { code: "SomethingNew", message: said.join("\n") } },
        },
      }),
    );

    // In annotations, labels, conditions of others and fields of a hosted cluster.
    const notes = (where: string) =>
      Object.fromEntries(
        planted.texts(where).map((text, at) => [`example.com/note-${at}`, text] as const),
      );
    const hosted = hostedClusterObject("clusters", "leaky", {
      annotations: {
        ...notes("an annotation of the HostedCluster"),
        "example.com/token": planted.word("an annotation that is called token"),
        "postern.io/zones": `password=${planted.word("an annotation that Postern reads")}`,
        "postern.io/networks": `token=${planted.word("a list that Postern reads")},x`,
      },
    });
    const cluster = await world.make({
      ...hosted,
      metadata: {
        ...hosted.metadata,
        labels: { "client-secret": planted.word("a label that is called client-secret") },
      },
    } as Made);
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const foreign = planted.texts("a condition of another controller").map((message, at) => ({
      type: `Foreign${at}`,
      status: "False",
      reason: "Foreign",
      message,
      lastTransitionTime,
    }));
    await world.patch(
      { ...cluster, kind: "HostedCluster" },
      { status: { conditions: foreign } },
      "status",
    );

    // In identities: a client secret, a certificate that cannot be read, and annotations of Cluster API's objects.
    simulator.change(resourceGroupId(managementSubscription, "base"), { location });
    await secret(world, ["org", "broken"], {
      clientSecret: `-----BEGIN CERTIFICATE-----\n${planted.word("a certificate")}\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n${planted.word("a key")}`,
      password: planted.word("the password of a key"),
    });
    await secret(world, ["org", "wrong"], { clientSecret: planted.word("a client secret") });
    const identity = (name: string, type: string) =>
      identityObject("org", name, {
        type,
        clientID: env.AZURE_CLIENT_ID,
        tenantID: tenant,
        clientSecret: { name, namespace: "org" },
        allowedNamespaces: { list: ["org"] },
      });
    await world.make(identity("broken", "ServicePrincipalCertificate"));
    await world.make(identity("wrong", "ServicePrincipal"));
    await secret(world, ["org", "right"], { clientSecret: "hush" });
    await world.make(identity("right", "ServicePrincipal"));
    await world.make(
      azureClusterObject("org-mc", "mc", { subscriptionID: managementSubscription }),
    );
    const link = {
      name: "link",
      natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
      lbFrontendIPConfigNames: ["front"],
      allowedSubscriptions: [managementSubscription],
    };
    const network = {
      vnet: { name: "vnet" },
      apiServerLB: { type: "Internal", frontendIPs: [{ name: "front" }] },
      subnets: [{ name: "nodes", role: "node" }],
    };
    const linked = { ...network, apiServerLB: { ...network.apiServerLB, privateLinks: [link] } };
    for (const name of ["broken", "wrong", "right", "listed"]) {
      const object = azureClusterObject("org", name, {
        subscriptionID: guestSubscription,
        identityRef: { kind: "AzureClusterIdentity", name: name === "listed" ? "right" : name },
        networkSpec: name === "listed" ? network : linked,
      });
      const annotations = {
        ...notes("an annotation of an AzureCluster"),
        [capi.privateLinks]: `[{"token": "${planted.word("an annotation of links")}"`,
      };
      await world.make({ ...object, metadata: { ...object.metadata, annotations } });
    }

    // In kubeconfigs of workload clusters that are malformed, each in another way.
    const user = (text: string) => `users:\n- name: a\n  user:\n    token: ${text}\n`;
    const malformed: ((texts: string[]) => string)[] = [
      (texts) => texts.map((text) => user(`${text}: oops`)).join(""),
      (texts) => `token: "${texts.join("\n")}`,
      (texts) => `a: !tag ${texts.join(" ")}\nb: *alias\n`,
      (texts) => JSON.stringify({ "current-context": texts.join(" "), contexts: [] }),
      (texts) => `{"clusters": [{"name": "c", "cluster": {"server": ${JSON.stringify(texts)}}}]}`,
    ];
    const workloads = malformed.map((_make, at) => `vs${at}`);
    for (const [at, name] of workloads.entries()) {
      const text = malformed[at]?.(planted.texts(`the malformed kubeconfig ${at}`)) ?? "";
      await secret(world, ["org", `${name}-kubeconfig`], { value: text });
      await onVsphere(world, name, "192.0.2.10");
    }
    const timer = setInterval(() => simulator.moveClock(1_000), 50);
    onTestFinished(() => clearInterval(timer));

    const anywhere = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"];
    const connection = ["--kubeconfig", world.cluster.kubeconfig];
    const policy = join(folder, "policy.yaml");
    await writeFile(policy, 'namespaces: [{ namespace: "*", domains: ["*"] }]\n');
    const operator = run(
      [
        ...["operator", ...connection, ...anywhere, "--log-level", "debug"],
        ...["--tenant-policy", policy],
        ...["--management-cluster-name", "mc", "--management-cluster-namespace", "org-mc"],
        ...["--base-domain", "example.com", "--base-domain-resource-group", "base"],
      ],
      env,
    );

    const startLine = () =>
      operator
        .printed()
        .split("\n")
        .find((line) => line.includes('"msg":"started"'));
    await expect.poll(startLine, { timeout: 90_000 }).toBeDefined();
    const { dashboard, pages } = JSON.parse(startLine() ?? "{}") as Record<string, string>;
    const streamed = await follow(`${dashboard}/api/stream`);

    // In kubeconfigs of the hosted cluster, as soon as its namespace is there.
    const namespace = "clusters-leaky";
    const there = () => world.get("Namespace", "", namespace);
    await expect.poll(there, { timeout: 90_000 }).toBeDefined();
    const kubeconfig = (server: string, given: object) =>
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server } }],
        users: [{ name: "u", user: given }],
      });
    await secret(world, [namespace, "service-network-admin-kubeconfig"], {
      kubeconfig: kubeconfig(
        `https://user:${planted.word("the address of a server")}@127.0.0.1:9`,
        {
          token: planted.word("a token"),
          password: planted.word("a password"),
        },
      ),
    });
    await secret(world, [namespace, "admin-kubeconfig"], {
      kubeconfig: kubeconfig("https://127.0.0.1:9", {
        exec: { command: "sh", args: ["-c", `echo ${planted.word("a program")}`] },
      }),
    });

    const address = "10.0.0.9";
    const router = () => world.get("Service", namespace, "private-router");
    await expect.poll(router, { timeout: 60_000 }).toBeDefined();
    const service = { ...(await router()), kind: "Service" } as Thing;
    await world.patch(
      service,
      { status: { loadBalancer: { ingress: [{ ip: address }] } } },
      "status",
    );

    const hasLogged = (text: string) => operator.printed().includes(text);
    const silent = () => workloads.filter((name) => !hasLogged(`org/${name}-kubeconfig`));
    await expect.poll(silent, { timeout: 120_000 }).toEqual([]);
    const said = async (kind: string, place: [string, string]) =>
      JSON.stringify((await world.get(kind, ...place))?.status ?? {});
    for (const [name, reason] of [
      ["broken", "CredentialUnreadable"],
      ["wrong", "AADSTS7000215"],
      ["right", "SomethingNew"],
      ["listed", "InvalidPrivateLinks"],
    ] as const)
      await expect
        .poll(() => said("AzureCluster", ["org", name]), { timeout: 60_000 })
        .toContain(reason);
    await expect
      .poll(() => said("AzurePrivateLinkService", [namespace, "private-router"]), {
        timeout: 60_000,
      })
      .toContain("SomethingNew");

    const read = async (url: string) => (await fetch(url)).text();
    const emitted: Record<string, string> = {
      metrics: await read(`${pages}/metrics`),
      readiness: await read(`${pages}/readyz?verbose`),
      "dashboard while Azure refuses": await read(`${dashboard}/api/overview`),
      "page while Azure refuses": await read(`${dashboard}/api/clusters/clusters/leaky`),
    };
    // In the answer to a write, now that Azure can be read: a step fails with it.
    simulator.addFault({
      match: { method: "PUT", type: "Microsoft.Network/*" },
      effect: {
        kind: "answer",
        status: 400,
        body: {
          error: { code: "NotWritten", message: planted.texts("an answer to a write").join("\n") },
        },
      },
    });
    world.azure.addFrontend(frontendOf(service), address);
    for (const fault of faults) simulator.faults.remove(fault);
    const refused = await world.get("AzurePrivateLinkService", namespace, "private-router");
    await world.patch(refused as Thing, {
      metadata: { annotations: { "example.com/now": "yes" } },
    });
    await expect
      .poll(streamed, { timeout: 60_000 })
      .toMatch(/event: step\ndata: .*clusters-leaky\/private-router.*NotWritten/);
    emitted.dashboard = await read(`${dashboard}/api/overview`);
    emitted.page = await read(`${dashboard}/api/clusters/clusters/leaky`);
    const file = join(folder, "dump.tar.gz");
    const dump = run(["dump", ...connection, "--file", file], env);
    await dump.ended;
    emitted["output of dump"] = dump.printed();
    emitted.dump = gunzipSync(await readFile(file)).toString();
    const shared = join(folder, "redacted.tar.gz");
    const redacted = run(["dump", "--redact", ...connection, "--file", shared], env);
    await redacted.ended;
    emitted["output of dump --redact"] = redacted.printed();
    emitted["dump --redact"] = gunzipSync(await readFile(shared)).toString();
    operator.child.kill("SIGTERM");
    await operator.ended;
    emitted.log = operator.printed();
    emitted["event stream"] = streamed();
    emitted.traces = traces.requests.map(({ body }) => body).join("\n");
    emitted.events = JSON.stringify(await world.list("Event"));
    const kinds = ["HostedCluster", "HostedControlPlane", "AzurePrivateLinkService"];
    for (const kind of [...kinds, "AzureCluster", "Cluster", "AzureClusterIdentity"]) {
      const ours = (await world.list(kind)).map(({ status = {} }) => ({
        ...status,
        conditions: (status.conditions ?? []).filter(({ reason }) => reason !== "Foreign"),
      }));
      emitted[`status of each ${kind}`] = JSON.stringify(ours);
    }

    // Everything was there to be searched.
    expect(emitted.metrics).toContain("nodejs_eventloop_lag_max_seconds");
    expect(emitted["dashboard while Azure refuses"]).toContain("SomethingNew");
    expect(emitted.dashboard).toContain("clusters/leaky");
    expect(emitted.page).toContain("conditions");
    expect(emitted.dump).toContain("example.com/note-0");
    expect(emitted["dump --redact"]).toContain("kubernetes.json");
    expect(emitted["event stream"]).toMatch(/event: step\ndata: .*NotWritten/);
    expect(emitted.traces).toContain("resourceSpans");
    const found = Object.entries(emitted).map(([where, text]) => [where, planted.foundIn(text)]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.keys(emitted).map((where) => [where, []])),
    );
  }, 400_000);
});
