import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { fileBackend } from "./storage-backend.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-backend-"));
  folders.push(folder);
  return join(folder, "kubernetes.db");
}

test("what was put is there when it is opened again, and what was removed is not", () => {
  const where = file();
  const first = fileBackend({ file: where });
  first.put("secrets", "n/a", "1");
  first.put("secrets", "n/a", "2");
  first.put("secrets", "n/b", "3");
  first.remove("secrets", "n/b", 17);
  first.things.set("key", "value");
  first.close();
  const second = fileBackend({ file: where });
  expect([...second.all()]).toEqual([{ collection: "secrets", key: "n/a", text: "2" }]);
  expect(second.revision()).toBe(17);
  expect(second.things.get("key")).toBe("value");
  second.close();
});

test("a write outlives a process that is killed in the next moment", () => {
  const where = file();
  const program = `
    const { fileBackend } = await import(${JSON.stringify(join(import.meta.dirname, "storage-backend.ts"))});
    const backend = fileBackend({ file: ${JSON.stringify(where)} });
    for (let i = 0; i < 50; i++) backend.put("secrets", "n/" + i, "text " + i);
    process.kill(process.pid, "SIGKILL");
  `;
  const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect(signal, String(stderr)).toBe("SIGKILL");
  const backend = fileBackend({ file: where });
  expect([...backend.all()]).toHaveLength(50);
  backend.close();
});

test("a disk that is full is reported, and what was there stays", () => {
  const backend = fileBackend({ file: file(), mostPages: 20 });
  backend.put("secrets", "n/a", "1");
  expect(() => backend.put("secrets", "n/b", "x".repeat(200_000))).toThrow(
    /the disk is full.*free some space/,
  );
  expect([...backend.all()]).toHaveLength(1);
  backend.close();
});
