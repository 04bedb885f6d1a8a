/**
 * What only the words of an answer say, because Azure has no code or field for it. This is the one place that decides by words:
 * `wording.test.ts` finds any other.
 */

/**
 * Whether a load balancer takes no backends by address. The words are documented, the code is not: "IP based backends can only
 * be used for Standard Load Balancers" (https://learn.microsoft.com/azure/load-balancer/backend-pool-management#limitations).
 */
export function refusesAddresses(message: string): boolean {
  return /\bip[- ]?based/i.test(message);
}

/**
 * Whether the metadata service has no such identity. Its code, `invalid_request`, stands for every wrong request
 * (Azure SDK for Go, sdk/azidentity/managed_identity_client_test.go).
 */
export function isUnknownIdentity(description: string): boolean {
  return /identity not found/i.test(description);
}

/** Entra's number of an error, with its sentence. MSAL has it in the message only, after words of its own. */
export function entraError(message: string): { code: string; detail: string } | undefined {
  const detail = message.slice(Math.max(0, message.indexOf("AADSTS")));
  const code = /^AADSTS\d+/.exec(detail)?.[0];
  return code === undefined ? undefined : { code, detail };
}

/** Whether MSAL had no answer, or none that it could use: the SDK puts its code into the message. */
export function isUnanswered(message: string): boolean {
  return /^(endpoints_resolution_error|network_error)/.test(message);
}

/** The ids of resources that a sentence of Azure names. */
export function idsNamedIn(sentence: string): string[] {
  const found = sentence.slice(0, 2_000).match(/\/subscriptions\/[^\s'",;()]+/gi) ?? [];
  return found.map((each) => each.replace(/\.+$/, ""));
}
