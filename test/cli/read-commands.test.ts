import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { json, serve } from "../loopback.ts";
import { root } from "../package/run-bin.ts";
import { golden, useCommands } from "./commands.ts";

const on = useCommands();
const slow = 120_000;

const asked: [name: string, args: string[]][] = [
  ["plan", ["plan"]],
  ["plan-wide", ["plan", "-o", "wide"]],
  ["tree", ["tree"]],
  ["tree-one", ["tree", "blue"]],
  ["tree-wide", ["tree", "clusters/blue", "-o", "wide"]],
  ["trace", ["trace", "API-blue.example.com."]],
  ["trace-cluster-api", ["trace", "apiserver.amber.example.net"]],
  ["trace-cluster", ["trace", "clusters/blue"]],
  ["trace-gateway", ["trace", "gateway.mc.example.net"]],
  ["doctor", ["doctor"]],
  ["doctor-before-install", ["doctor", "--before-install"]],
  ["orphans", ["orphans"]],
  ["adopt", ["adopt", "blue"]],
  ["approve", ["approve"]],
  ["reject", ["reject"]],
];

describe("at rest, as text", () => {
  test.each(asked)(
    "%s is as it is kept, and all is well",
    async (name, args) => {
      const { exitCode, stdout, stderr } = await on.run(...args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      await expect(golden(stdout)).toMatchFileSnapshot(`golden/${name}.txt`);
    },
    slow,
  );
});

test(
  "the role of an identity is as it is kept, for az",
  async () => {
    const { exitCode, stdout, stderr } = await on.run("permissions", "guest", "--format", "az");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    await expect(stdout).toMatchFileSnapshot("golden/permissions.txt");
  },
  slow,
);

test(
  "json and yaml say the same, and are whole",
  async () => {
    const both = asked.filter(([name]) => !/wide|one$/.test(name));
    for (const [name, args] of both) {
      const [json, yaml] = await Promise.all(
        ["json", "yaml"].map((format) => on.run(...args, "-o", format)),
      );
      expect({ exitCode: json?.exitCode, stderr: json?.stderr }, name).toEqual({
        exitCode: 0,
        stderr: "",
      });
      expect(golden(JSON.stringify(JSON.parse(json?.stdout ?? "")))).toBe(
        golden(JSON.stringify(parse(yaml?.stdout ?? ""))),
      );
    }
  },
  4 * slow,
);

test(
  "looking writes nothing, and lists by subscription",
  async () => {
    const before = await on.last();
    await on.run("plan");
    await on.run("tree");
    await on.run("doctor");
    const mine = await on.asked(before);
    expect(mine.length).toBeGreaterThan(10);
    expect(mine.filter(({ method }) => method !== "GET")).toEqual([]);
  },
  slow,
);

test(
  "the scripts of shells get the names of clusters and namespaces, and nothing where there is no cluster",
  async () => {
    const complete = async (what: string, env: Record<string, string> = {}) => {
      const { exitCode, stdout, stderr } = await on.runWith(env, "__complete", what);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      return stdout.split("\n").filter(Boolean);
    };
    const clusters = await complete("clusters");
    for (const name of ["blue", "clusters/blue", "amber", "org/amber"])
      expect(clusters).toContain(name);
    expect(await complete("namespaces")).toContain("clusters-blue");
    expect(await complete("secrets")).toEqual([]);
    expect(await complete("clusters", { KUBECONFIG: "/nowhere" })).toEqual([]);
  },
  slow,
);

describe("a question without an answer", () => {
  test.each([
    [["tree", "bleu"], 64, "cluster 'bleu' does not exist: did you mean 'blue'?"],
    [["plan", "clusters/gren"], 64, "did you mean 'clusters/green'?"],
    [["adopt", "org/amber"], 64, "org/amber is not a HostedCluster"],
    [["cluster", "access", "blue"], 1, "the kubeconfig of clusters/blue does not exist yet"],
    [["approve", "private-router"], 64, "did you mean 'private-router-pe'?"],
    [["approve", "private-router-pe"], 64, "'private-router-pe' matches several connections"],
    [["permissions", "gest"], 64, "did you mean 'guest'?"],
    [["completion", "powershell"], 64, "use one of bash, zsh, fish"],
    [["trace"], 64, "missing required argument 'host'"],
    [
      ["trace", "clusters/bleu"],
      64,
      "cluster 'clusters/bleu' does not exist: did you mean 'clusters/blue'?",
    ],
    [["tree", "-o", "xml"], 64, "Allowed choices are text, wide, json, yaml"],
    [["tree", "--context", "nowhere"], 1, "nowhere"],
  ])(
    "%j is one line that says what would be right",
    async (args, exitCode, says) => {
      const ended = await on.run(...args);
      expect(ended).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    },
    slow,
  );

  test(
    "a host that no zone knows is said, and a network that does not know it",
    async () => {
      expect(await on.run("trace", "api.nowhere.example.org")).toMatchObject({
        exitCode: 3,
        stdout: expect.stringMatching(
          /^No private DNS zone has a record for api\.nowhere\.example\.org\.\nRemedy: /,
        ),
      });
      expect(await on.run("trace", "api-blue.example.com", "--from", "green")).toMatchObject({
        exitCode: 3,
        stdout: expect.stringContaining("It is a public hostname of clusters/blue."),
      });
    },
    slow,
  );
});

describe("a plan without what the operator goes by", () => {
  const flags = [
    ...["--management-cluster-name", "mc", "--management-cluster-namespace", "org-mc"],
    ...["--management-link", "gateway", "--azure-cluster-gates", "NetworkReady"],
  ];

  test(
    "names the clusters that it leaves out, and is exit code 1",
    async () => {
      const KUBECONFIG = on.saying("bare", (extension) => {
        delete extension.environment?.AZURE_RESOURCE_GROUP;
        delete extension.operator;
      });
      const run = (...args: string[]) => on.runWith({ KUBECONFIG }, "plan", ...args);
      const all = await run();
      expect(all).toMatchObject({ exitCode: 1, stderr: "" });
      expect(all.stdout).toMatch(/^Not planned: hosted clusters: .* set AZURE_RESOURCE_GROUP$/m);
      expect(all.stdout).toMatch(/^Not planned: Cluster API: .* set --management-cluster-name /m);
      expect(all.stdout).not.toContain("No changes");
      const one = await run("clusters/blue", "-o", "json");
      expect(one.exitCode).toBe(1);
      expect(JSON.parse(one.stdout)).toMatchObject({ notPlanned: [{ of: "hosted clusters" }] });
      expect((await run("org/amber", ...flags)).stdout).not.toContain("Not planned");
    },
    slow,
  );
});

describe("a plan by the tenant policy of the operator", () => {
  const plan = async (entry: object, cluster: string) => {
    const file = join(await mkdtemp(join(tmpdir(), "postern-policy-")), "policy.json");
    const [namespace = ""] = cluster.split("/");
    await writeFile(file, JSON.stringify({ namespaces: [{ namespace, ...entry }] }));
    return on.run("plan", cluster, "--tenant-policy", file);
  };

  test.each([
    ["of a hosted cluster's subscription", "clusters/blue", { subscriptions: [] }],
    ["of a resource group", "org/amber", { resourceGroups: [] }],
    ["of a name in the base domain", "org/amber", { domains: ["other.example.net"] }],
    ["of an identity", "org/amber", { identities: [] }],
  ])(
    "announces no step after the refusal %s, and says by what it was computed",
    async (_what, cluster, entry) => {
      const refused = await plan(entry, cluster);
      expect(refused.stdout).toContain("NotAllowedByPolicy");
      // What is told in a condition is a step of the operator, too.
      const steps = [...refused.stdout.matchAll(/^ {2}\+ (.+)$/gm)].map(([, step]) => step);
      expect(steps.filter((step) => step !== "tell")).toEqual([]);
      expect(refused.stdout).toMatch(
        /\nComputed with the credential of this command and the tenant policy in .*policy.json\.\n$/,
      );
    },
    slow,
  );
});

test(
  "the doctor keeps its findings where one kind may not be listed, and says what could not be checked",
  async () => {
    // In front of the cluster stands one that shows NodePools to nobody.
    const { url } = await serve(({ method, url: path, body }, response) => {
      if (/^\/apis\/hypershift\.openshift\.io\/.*\/nodepools/.test(path)) {
        json(response, 403, { kind: "Status", reason: "Forbidden", message: "no NodePools" });
        return;
      }
      const given = body === "" ? undefined : JSON.parse(body);
      on.local.kube<object>(method, path, given).then(
        (answer) => json(response, answer.status, answer.body),
        () => response.destroy(),
      );
    });
    const config = JSON.parse(await readFile(on.local.ready.kubeconfig, "utf8")) as {
      clusters: { cluster: Record<string, unknown> }[];
    };
    for (const { cluster } of config.clusters) {
      cluster.server = url;
      delete cluster["certificate-authority-data"];
    }
    const KUBECONFIG = join(on.files, "nodepools.kubeconfig");
    await writeFile(KUBECONFIG, JSON.stringify(config));
    const { exitCode, stdout, stderr } = await on.runWith({ KUBECONFIG }, "doctor");
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: "" });
    expect(stdout).toMatch(/^✓ cluster health \(4\)$/m);
    expect(stdout).toMatch(/^- orphans: Kubernetes API\n.*No NodePools/m);
    expect(stdout).toContain("1 could not be checked.");
  },
  slow,
);

test(
  "a cluster whose resource group does not exist concerns no command about another",
  async () => {
    const clusters = "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters";
    const { body } = await on.local.kube<{
      apiVersion: string;
      kind: string;
      spec: { platform: { azure: object } };
    }>("GET", `${clusters}/blue`);
    const { apiVersion, kind, spec } = body;
    const subscriptionID = "99999999-0000-4000-8000-000000000000";
    const azure = { ...spec.platform.azure, subscriptionID, resourceGroup: "nosuch" };
    const metadata = { namespace: "clusters", name: "nosuch" };
    const platform = { ...spec.platform, azure };
    await on.local.kube("POST", clusters, {
      ...{ apiVersion, kind, metadata },
      spec: { ...spec, services: [], platform, pausedUntil: "true" },
    });
    try {
      const all = await on.run("tree");
      expect(all.exitCode).toBe(3);
      expect(all.stdout.match(/^Not read: .*/gm)).toEqual([
        expect.stringContaining(`/subscriptions/${subscriptionID}/resourceGroups/nosuch: `),
      ]);
      for (const command of ["tree", "trace"]) {
        const { exitCode, stdout } = await on.run(command, "clusters/blue");
        expect(stdout).not.toContain("Not read");
        expect(exitCode).toBe(0);
      }
    } finally {
      await on.local.kube("DELETE", `${clusters}/nosuch`);
      const status = async () => (await on.local.kube("GET", `${clusters}/nosuch`)).status;
      await expect.poll(status).toBe(404);
    }
  },
  slow,
);

describe("without rights in Azure", () => {
  const run = (...args: string[]) => on.runWith({ KUBECONFIG: on.as("nobody") }, ...args);

  test(
    "the tree says what could not be read, and concludes nothing",
    async () => {
      const { exitCode, stdout, stderr } = await run("tree", "blue");
      expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: "" });
      expect(stdout).toContain("Not read: ");
      expect(stdout).not.toContain("broken");
    },
    slow,
  );

  test(
    "the doctor counts what could not be checked, and does not say that there are no problems",
    async () => {
      const asText = await run("doctor");
      expect(asText).toMatchObject({ exitCode: 3, stderr: "" });
      expect(asText.stdout).toMatch(/\d+ could not be checked\.\nChecked at .*\n$/);
      expect(asText.stdout).not.toContain("No problems found");
      const { stdout, exitCode } = await run("doctor", "-o", "json");
      expect(exitCode).toBe(3);
      const { findings } = JSON.parse(stdout) as { findings: { check: string; result: string }[] };
      expect(findings).toContainEqual(
        expect.objectContaining({ check: "read access", result: "not checked" }),
      );
    },
    slow,
  );

  test(
    "the doctor says which role is missing where, by who looks after the group",
    async () => {
      const rights = async (application: string, group: string) => {
        const { stdout } = await on.runWith(
          { KUBECONFIG: on.as(application) },
          ...["doctor", "--before-install", "-o", "json"],
        );
        const { findings } = JSON.parse(stdout) as {
          findings: { check: string; about: string; result: string; remedy?: string }[];
        };
        const found = findings.find(
          ({ check, about }) =>
            check === "Azure permissions of this credential" && about.endsWith(`/${group}`),
        );
        return [found?.result, found?.remedy?.split(" --")[0]];
      };
      expect(await rights("mc", "management")).toEqual(["ok", undefined]);
      expect(await rights("mc", "amber")).toEqual([
        "failed",
        "Grant the role: postern permissions cluster-api",
      ]);
      expect(await rights("reader", "blue")).toEqual([
        "warning",
        "Grant the role: postern permissions guest",
      ]);
    },
    slow,
  );

  test(
    "approve says what could not be read, and nothing of a name that may be there",
    async () => {
      const listed = await run("approve");
      expect(listed).toMatchObject({ exitCode: 3, stderr: "" });
      expect(listed.stdout).toContain("Not read: link services in ");
      expect(await run("approve", "shop")).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("no connection of 'shop' was found, but "),
      });
    },
    slow,
  );

  test.each(["blue", "org/amber"])(
    "a plan of %s cannot be computed by the identity of the cluster: it is exit code 1 and says why",
    async (cluster) => {
      const { exitCode, stdout, stderr } = await run("plan", cluster);
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
      expect(stdout).toMatch(/\d plans? could not be computed \(see above\)\./);
      expect(stdout).toMatch(/authori[sz]ation|may not|lacks/i);
    },
    slow,
  );

  test(
    "orphans are not looked for in what cannot be seen, and that is said",
    async () => {
      const { stdout } = await run("orphans");
      expect(stdout).toContain("Not read: ");
    },
    slow,
  );
});

describe("the way to a person", () => {
  const bin = join(root, "packages/postern/bin/postern.js");
  const env = () => ({ ...process.env, KUBECONFIG: on.local.ready.kubeconfig });

  test(
    "a reader that closes the pipe ends it without a word",
    async () => {
      const child = spawn(process.execPath, [bin, "tree", "-o", "json"], { env: env() });
      child.stdout.destroy();
      const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, "close")]);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    },
    slow,
  );

  test(
    "as kubectl postern it answers by the same exit codes",
    async () => {
      const path = join(on.files, "kubectl-postern");
      symlinkSync(bin, path);
      const run = (...args: string[]) =>
        spawnSync(process.execPath, [path, ...args], { env: env(), encoding: "utf8" });
      expect(run("tree", "bleu")).toMatchObject({ status: 64 });
      expect(run("trace", "api.nowhere.example.org")).toMatchObject({ status: 3 });
      expect(run("version")).toMatchObject({ status: 0, stderr: "" });
    },
    slow,
  );

  test.runIf(spawnSync("script", ["--version"]).error === undefined)(
    "a terminal of 40 columns has lines that fit, save for words that are longer, and colours",
    async () => {
      // Without standard error: how far it is would stand between the lines.
      const command = `stty cols 40; '${process.execPath}' '${bin}' tree blue 2>/dev/null`;
      const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
        env: { ...env(), TERM: "xterm", NO_COLOR: "" },
        encoding: "utf8",
      });
      expect(stdout).toContain("\u001b[32m✓");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour is made of one.
      const lines = stdout.replace(/\u001b\[\d+m/g, "").split(/\r?\n/);
      const long = lines.filter((line) => line.length > 40);
      for (const line of long) expect(line.replace(/[│├└─✓\s]*/, "").trim()).toMatch(/^\S+$/);
      const plain = spawnSync("script", ["-qec", command, "/dev/null"], {
        env: { ...env(), TERM: "xterm", NO_COLOR: "1" },
        encoding: "utf8",
      });
      expect(plain.stdout).not.toContain("\u001b[");
    },
    slow,
  );

  test.runIf(spawnSync("script", ["--version"]).error === undefined)(
    "a terminal is told how far it is, in a line that is taken away when it ends",
    async () => {
      const hang = await on.slowDown("Microsoft.Network/privateDnsZones/read");
      const command = `exec '${process.execPath}' '${bin}' tree >'${join(on.files, "tree.txt")}'`;
      const child = spawn("script", ["-qec", command, "/dev/null"], {
        env: { ...env(), TERM: "xterm" },
      });
      let seen = "";
      child.stdout.on("data", (some) => (seen += String(some)));
      await expect.poll(() => seen, { timeout: 60_000 }).toContain("\r\u001b[KReading Azure: ");
      child.stdin.write("\u0003");
      const [exitCode] = await once(child, "close");
      expect(exitCode).toBe(130);
      expect(seen).toContain("\r\u001b[Kpostern: interrupted");
      await hang();
    },
    slow,
  );

  test(
    "Ctrl-C ends it with 130 while Azure does not answer",
    async () => {
      const hang = await on.slowDown();
      const before = await on.last();
      const child = spawn(process.execPath, [bin, "tree"], { env: env() });
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      await expect.poll(() => on.asked(before), { timeout: 60_000 }).not.toEqual([]);
      child.kill("SIGINT");
      const [stdout, stderr, [exitCode]] = await ended;
      expect({ stdout, stderr, exitCode }).toEqual({
        stdout: "",
        stderr: "postern: interrupted\n",
        exitCode: 130,
      });
      await hang();
    },
    slow,
  );
});
