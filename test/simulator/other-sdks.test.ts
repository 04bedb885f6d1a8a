import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findOrBuildAzureGo } from "../setup/binaries.ts";
import { describeWhere } from "../setup/needs.ts";
import { findOrInstallAzurePython } from "../setup/python.ts";
import { foreignWorld, group, shellEnvironment } from "./foreign-world.ts";

const run = promisify(execFile);
const tell = (line: string) => process.stderr.write(`${line}\n`);
const go = await findOrBuildAzureGo(tell);
const python = await findOrInstallAzurePython(tell);
const script = join(import.meta.dirname, "../azure-python/sdk.py");

const clients = [
  { name: "Go", found: go, command: "program" in go ? [go.program] : [] },
  { name: "Python", found: python, command: "python" in python ? [python.python, script] : [] },
];

for (const { name, found, command } of clients)
  describeWhere("missing" in found ? found.missing : undefined, `Azure's SDK for ${name}`, () => {
    test("takes a link service, an endpoint, private DNS and a gateway pool from creation to deletion", async () => {
      const { simulator, readyFile } = await foreignWorld();
      const before = Object.keys(simulator.snapshot().resources);
      const [program = "", ...args] = command;
      const { stdout } = await run(program, [...args, "rg"], {
        env: await shellEnvironment(readyFile),
      });
      expect(JSON.parse(stdout)).toEqual({
        alias: expect.stringMatching(/^link\..*\.westeurope\.azure\.privatelinkservice$/),
        connection: ["Pending", "Approved"],
        deleted: "ResourceNotFound",
        records: expect.arrayContaining(["@", "api"]),
        tunnelPorts: [10800, 10801],
      });
      expect(Object.keys(simulator.snapshot().resources)).toEqual(before);
      expect(before).toContain(group);
    });
  });
