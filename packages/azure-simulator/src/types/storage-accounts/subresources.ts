/** The type of accounts, for those who must not import the type itself. */
export const storageType = "Microsoft.Storage/storageAccounts";

/** The parts of an account that an endpoint can lead to. */
export const subresources: readonly string[] = ["blob", "table", "queue", "file", "web", "dfs"];

/** The names of the parts of an account that an endpoint leads to. */
export function hostnamesOf(account: string, groupIds: readonly string[]): string[] {
  return groupIds.map((each) => `${account}.${each.toLowerCase()}.core.windows.net`);
}
