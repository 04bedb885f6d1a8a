import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { keptIn } from "./kept.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-kept-"));
  folders.push(folder);
  return join(folder, "kubernetes.db");
}

test("what was put is there when it is opened again, and what was removed is not", () => {
  const where = file();
  const first = keptIn({ file: where });
  first.put("secrets", "n/a", "1");
  first.put("secrets", "n/a", "2");
  first.put("secrets", "n/b", "3");
  first.remove("secrets", "n/b", 17);
  first.things.set("key", "value");
  first.close();
  const second = keptIn({ file: where });
  expect([...second.all()]).toEqual([{ collection: "secrets", key: "n/a", text: "2" }]);
  expect(second.revision()).toBe(17);
  expect(second.things.get("key")).toBe("value");
  second.close();
});

test("a write outlives a process that is killed in the next moment", () => {
  const where = file();
  const program = `
    const { keptIn } = await import(${JSON.stringify(join(import.meta.dirname, "kept.ts"))});
    const kept = keptIn({ file: ${JSON.stringify(where)} });
    for (let i = 0; i < 50; i++) kept.put("secrets", "n/" + i, "text " + i);
    process.kill(process.pid, "SIGKILL");
  `;
  const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect(signal, String(stderr)).toBe("SIGKILL");
  const kept = keptIn({ file: where });
  expect([...kept.all()]).toHaveLength(50);
  kept.close();
});

test("a disk that is full is told, and what was there stays", () => {
  const kept = keptIn({ file: file(), mostPages: 20 });
  kept.put("secrets", "n/a", "1");
  expect(() => kept.put("secrets", "n/b", "x".repeat(200_000))).toThrow(
    /the disk is full.*make room/,
  );
  expect([...kept.all()]).toHaveLength(1);
  kept.close();
});
