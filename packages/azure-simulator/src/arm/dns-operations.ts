import type { Dialect } from "./resource-type.ts";

/** What the two DNS providers call the addresses of their operations: statuses, or results. */
export function dnsOperationWord(dialect: Dialect, results: boolean): string {
  const word = dialect === "publicDns" ? "dnsOperation" : "privateDnsOperation";
  return `${word}${results ? "Results" : "Statuses"}`;
}

/** Whether a key is the address of an operation of DNS. */
export function isDnsOperation(key: string): boolean {
  return /\/(private)?dnsoperation(statuses|results)\//.test(key);
}
