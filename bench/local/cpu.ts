import { readFileSync } from "node:fs";

/** What processes have used so far; the kernel counts in hundredths of a second. */
export function cpuMs(pids: readonly number[]): number {
  const used = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
    return (Number(fields[13]) + Number(fields[14])) * 10;
  });
  return used.reduce((sum, each) => sum + each, 0);
}
