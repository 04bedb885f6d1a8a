/** An answer, from Azure or from the simulator. */
export interface Answered {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Headers that differ with every request, or that say how it travelled and not what was answered. The recordings were
 * made over several months: `x-ms-operation-identifier` came in between.
 */
const perRequest = new Set([
  "content-length",
  "date",
  "connection",
  "keep-alive",
  "retry-after",
  "transfer-encoding",
  "x-ms-operation-identifier",
  // How many machines compute counted for a throttle of its own, which the simulator does not have.
  "x-ms-request-charge",
  "x-ms-original-request-ids",
  "x-ms-request-id",
  "x-ms-correlation-request-id",
  "x-ms-routing-request-id",
  "x-ms-client-request-id",
  "x-ms-arm-service-request-id",
  "x-ms-ratelimit-remaining-subscription-reads",
  "x-ms-ratelimit-remaining-subscription-writes",
  "x-ms-ratelimit-remaining-subscription-deletes",
  "x-ms-ratelimit-remaining-subscription-resource-requests",
  "x-ms-ratelimit-remaining-resource",
  "x-msedge-ref",
  "vary",
]);

/** What is different between two answers, when ids, guids, times, etags and addresses of the world are set aside. */
export function differences(wanted: Answered, got: Answered, base: string): string[] {
  const found: string[] = [];
  if (wanted.status !== got.status) found.push(`status ${got.status} and not ${wanted.status}`);
  const names = new Set([...Object.keys(wanted.headers), ...Object.keys(got.headers)]);
  for (const name of [...names].sort()) {
    if (perRequest.has(name)) continue;
    const [theirs, ours] = [wanted.headers[name], got.headers[name]].map(
      (value) => value && plainHeader(name, value, base),
    );
    if (theirs !== ours)
      found.push(`header ${name}: ${ours ?? "absent"} and not ${theirs ?? "absent"}`);
  }
  const difference = bodyDifference(wanted.body, got.body, base);
  if (difference !== undefined) found.push(`body${difference}`);
  return found;
}

/** The first difference between two bodies, when ids, guids, times, etags and addresses of the world are set aside. */
export function bodyDifference(wanted: string, got: string, base: string): string | undefined {
  return firstDifference(plainBody(wanted, base), plainBody(got, base), "");
}

function plainHeader(name: string, value: string, base: string): string {
  if (name.startsWith("x-ms-ratelimit-remaining-")) return "a number";
  return plain(value, base);
}

function plainBody(body: string, base: string): unknown {
  try {
    return JSON.parse(plain(body.replaceAll("\\/", "/"), base));
  } catch {
    return plain(body, base);
  }
}

/** Guids, times and the marks of poll addresses are the same word everywhere. */
function plain(text: string, base: string): string {
  return (
    text
      .replaceAll(base, "https://management.azure.com")
      .replace(
        /(operationresults|privateDnsOperation(?:Statuses|Results))\/[^?"]+/gi,
        "$1/OPERATION",
      )
      .replace(/([?&](?:t|c|s|h|p))=[^&"\\]*/g, "$1=x")
      .replace(/\?api-version=[^"\s]*/g, (query) => {
        const unsigned = query.replace(/&[tcshp]=x/g, "");
        return unsigned === query ? query : `${unsigned}&signed`;
      })
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "GUID")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, "TIME")
      .replace(/("internalId":")[^"]+/g, "$1INTERNAL")
      .replace(/("internalDomainNameSuffix":")[a-z0-9]+\./g, "$1NETWORK.")
      // Some regions show these and some do not.
      .replace(
        /,"(?:privateEndpointVNetPolicies":"Disabled"|enableAcceleratedNetworking":false)/g,
        "",
      )
      .replace(/,"ipamPoolPrefixAllocations":\[\]/g, "")
      .replace(/("linkIdentifier":")\d+/g, "$1NUMBER")
      .replace(/("(?:templateHash|duration)":")[^"]+/g, "$1MARK")
      .replace(/ns(\d)-\d+(\.ppe)?\.azure-dns/g, "ns$1-00.azure-dns")
      .replace(/(_OS__1_)[0-9a-f]{32}/g, "$1GUID")
      .replace(/("ipAddress":")(?!10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]+/g, "$1PUBLIC")
  );
}

function firstDifference(wanted: unknown, got: unknown, path: string): string | undefined {
  if (wanted === got) return undefined;
  const both = [wanted, got];
  if (both.every(Array.isArray)) {
    const [a, b] = both as [unknown[], unknown[]];
    if (a.length !== b.length) return `${path}: ${b.length} entries and not ${a.length}`;
    return a
      .map((each, i) => firstDifference(each, b[i], `${path}[${i}]`))
      .find((each) => each !== undefined);
  }
  if (both.every((each) => typeof each === "object" && each !== null && !Array.isArray(each))) {
    const [a, b] = both as [Record<string, unknown>, Record<string, unknown>];
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    for (const key of [...keys].sort()) {
      const difference = firstDifference(a[key], b[key], `${path}.${key}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return `${path}: ${JSON.stringify(got) ?? "absent"} and not ${JSON.stringify(wanted) ?? "absent"}`;
}
