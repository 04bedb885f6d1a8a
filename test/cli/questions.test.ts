import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../package/run-bin.ts";
import { guests, management, useCommands } from "./commands.ts";

const on = useCommands();
const slow = 120_000;
const network = "providers/Microsoft.Network";
const endpoint = `${guests}/green/${network}/privateEndpoints/private-router-pe`;

interface Connection {
  endpoint: string;
  cluster?: string;
  service: string;
}

describe("approve and reject", () => {
  test(
    "select the endpoint by its cluster, where all endpoints have the same name",
    async () => {
      for (const name of ["green", "clusters/green"]) {
        const { exitCode, stdout } = await on.run("approve", name, "-o", "json");
        expect(exitCode).toBe(0);
        expect(JSON.parse(stdout)).toMatchObject({ endpointId: endpoint, status: "Approved" });
      }
      const several = await on.run("approve", "private-router-pe");
      expect(several).toMatchObject({ exitCode: 64, stdout: "" });
      expect(several.stderr).toContain("clusters/blue, clusters/green");
    },
    slow,
  );

  test(
    "never select by a cluster what somebody else connects to its link service",
    async () => {
      const all = JSON.parse((await on.run("tree", "green", "-o", "json")).stdout) as {
        tree: { under: { under: { kind: string; azureId: string }[] }[] }[];
      };
      const service = all.tree[0]?.under[0]?.under.find(({ kind }) => kind === "link-service");
      const appliances = `${management}/appliances/${network}`;
      const stranger = `${appliances}/privateEndpoints/stranger`;
      await on.change(stranger, {
        location: "westeurope",
        properties: {
          subnet: { id: `${appliances}/virtualNetworks/appliances/subnets/inside` },
          manualPrivateLinkServiceConnections: [
            { name: "stranger", properties: { privateLinkServiceId: service?.azureId } },
          ],
        },
      });
      const { waiting } = JSON.parse((await on.run("approve", "-o", "json")).stdout) as {
        waiting: Connection[];
      };
      expect(waiting).toMatchObject([{ endpoint: "stranger" }]);
      expect(waiting[0]).not.toHaveProperty("cluster");
      const decided = await on.run("approve", "clusters/green", "-o", "json");
      expect(JSON.parse(decided.stdout)).toMatchObject({ endpointId: endpoint });
      expect((await on.run("reject", "stranger")).exitCode).toBe(0);
    },
    slow,
  );
});

test.each([
  [
    ["cluster", "destroy", "bleu"],
    "cluster 'bleu' does not exist: list the clusters with postern tree",
  ],
  [
    ["cluster", "destroy", "lue"],
    "cluster 'lue' does not exist: list the clusters with postern tree",
  ],
  [["cluster", "access", "bleu"], "did you mean 'blue'?"],
  [["cluster", "destroy"], "(see postern cluster destroy --help)"],
  [
    ["trace", "api-blue.example.com", "--from", "nosuch"],
    "network 'nosuch' does not exist: the networks are amber-vnet, ",
  ],
  [["trace", "api-blue.example.com", "--from", "gren"], "did you mean 'green'?"],
])(
  "%j is rejected, and says what would be right",
  async (args, says) => {
    const { exitCode, stdout, stderr } = await on.run(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toContain(says);
    if (args[1] === "destroy") expect(stderr).not.toMatch(/did you mean|blue/);
  },
  slow,
);

test(
  "a network that may be hidden is not reported as unknown",
  async () => {
    const KUBECONFIG = on.as("nobody");
    const asked = ["trace", "api-blue.example.com", "--from", "nosuch"];
    const { exitCode, stdout } = await on.runWith({ KUBECONFIG }, ...asked);
    expect(exitCode).toBe(3);
    expect(stdout).toContain("Not read: ");
  },
  slow,
);

test(
  "dump --file - writes the archive to standard output, and what it says elsewhere",
  async () => {
    const bin = `${root}/packages/postern/bin/postern.js`;
    const child = spawn(process.execPath, [bin, "dump", "--file", "-"], {
      env: { ...process.env, KUBECONFIG: on.local.ready.kubeconfig },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [archive, said] = await Promise.all([
      buffer(child.stdout),
      buffer(child.stderr),
      once(child, "close"),
    ]);
    expect(gunzipSync(archive).includes("postern-dump/kubernetes.json")).toBe(true);
    expect(String(said)).toContain("-: about.json, kubernetes.json");
    const { stdout } = spawnSync("tar", ["-tz"], { input: archive, encoding: "utf8" });
    expect(stdout.split("\n")).toContain("postern-dump/tree.json");
  },
  slow,
);

test(
  "orphans --cluster lists those of one cluster, and deletes nothing",
  async () => {
    const other = "11111111-2222-4333-8444-555555555555";
    const zone = (name: string) => `${guests}/blue/${network}/privateDnsZones/${name}`;
    const [one, another] = [zone("one.example.org"), zone("another.example.org")] as const;
    await on.change(one, { location: "global", tags: { postern_owner: `${other}/gone` } });
    const rest = "99999999-2222-4333-8444-555555555555";
    await on.change(another, { location: "global", tags: { postern_owner: `${rest}/gone` } });
    const listed = await on.run("orphans", "--cluster", other, "-o", "json");
    expect(listed).toMatchObject({ exitCode: 3, stderr: "" });
    const { orphans, deleted } = JSON.parse(listed.stdout) as {
      orphans: { id: string }[];
      deleted: string[];
    };
    expect({ ids: orphans.map(({ id }) => id), deleted }).toEqual({ ids: [one], deleted: [] });
    const all = await on.run("orphans", "-o", "json");
    expect((JSON.parse(all.stdout) as { orphans: unknown[] }).orphans).toHaveLength(2);
    for (const id of [one, another]) await on.change(id);
  },
  slow,
);

test.each([
  [["version"], ["version", "node"]],
  [["permissions", "guest"], ["roles"]],
  [
    ["dump", "--redact", "--file", "with-output.tar.gz"],
    ["file", "parts", "missing"],
  ],
])(
  "%j prints data with -o",
  async (args, keys) => {
    const yaml = await on.run(...args, "-o", "yaml");
    expect(yaml).toMatchObject({ exitCode: 0, stderr: "" });
    expect(Object.keys(parse(yaml.stdout))).toEqual(keys);
  },
  slow,
);

test("every command that prints data has -o", async () => {
  const { programs } = await import("postern/programs.ts");
  // Servers print none, and a completion script is for one shell.
  const without = ["local", "operator", "agent", "completion"];
  for (const [name, { load }] of Object.entries(programs)) {
    const loaded = await load();
    if (without.includes(name) || !("command" in loaded)) continue;
    const command = loaded.command();
    const leaves = command.commands.length > 0 ? command.commands : [command];
    // Install prints data itself, and so does install render.
    for (const each of name === "install" ? [command, ...leaves] : leaves)
      expect(
        each.options.map(({ short }) => short),
        `${name} ${each.name()}`,
      ).toContain("-o");
  }
});
