import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Write a file of which nobody ever sees half: it is written beside its place and then moved there. */
export function writeWhole(file: string, text: string, mode = 0o644): void {
  const beside = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(beside, text, { mode });
    chmodSync(beside, mode);
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
