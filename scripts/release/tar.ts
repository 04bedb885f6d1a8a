import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** A tar of what lies in a folder, the same for the same files: in order, of no user and no time. GNU tar makes it. */
export function tarOf(folder: string, paths: readonly string[] = ["."]): Buffer {
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const form = ["--format=gnu", "--mode=u+rwX,go+rX,go-w"];
  return execFileSync("tar", [...same, ...form, "-C", folder, "-cf", "-", ...paths], {
    maxBuffer: 2 ** 30,
  });
}

/** The same, compressed. */
export function tarGzOf(folder: string, paths?: readonly string[]): Buffer {
  return gzipSync(tarOf(folder, paths));
}

/** The SHA-256 of bytes, in hexadecimal digits. */
export function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Write JSON as tools do. */
export function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Read JSON. */
export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
