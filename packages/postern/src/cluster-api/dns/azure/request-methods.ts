/** The clients of dns-operator-azure by the type of a resource, and what it calls their methods. */
const clients: Record<string, { client: string; isAsync?: true; list: string }> = {
  dnszones: { client: "zones", list: "NewListByResourceGroupPager" },
  "dnszones/records": { client: "recordSets", list: "NewListByDNSZonePager" },
  privatednszones: { client: "privateZones", isAsync: true, list: "NewListByResourceGroupPager" },
  "privatednszones/records": { client: "privateRecordSets", list: "NewListPager" },
  "privatednszones/virtualnetworklinks": {
    client: "virtualNetworkLinkClient",
    isAsync: true,
    list: "NewListPager",
  },
  resourcegroups: { client: "resourceGroups", list: "NewListPager" },
};

/**
 * The value of the label `method` for a request, as dns-operator-azure has it: `recordSets.CreateOrUpdate`. Dashboards select by it.
 * A request that it never sends has the name that its client would have; any other has its HTTP method.
 */
export function methodOf(verb: string, path: string): string {
  const [plain = ""] = path.toLowerCase().split("?");
  if (/operation(s|results|statuses)\//.test(plain)) return "poller.PollUntilDone";
  const { type, isList } = resourceIn(plain);
  const known = clients[type];
  if (known === undefined) return verb;
  const { client, isAsync, list } = known;
  switch (verb) {
    case "GET":
      return `${client}.${isList ? list : "Get"}`;
    case "PUT":
    case "PATCH":
      return `${client}.${isAsync ? "Begin" : ""}CreateOrUpdate`;
    case "DELETE":
      return `${client}.${isAsync || client === "zones" ? "Begin" : ""}Delete`;
    default:
      return verb;
  }
}

/** The type of the resource, or of the list, that a path names. All types of record sets are one. */
function resourceIn(path: string): { type: string; isList: boolean } {
  const [, zones, rest = ""] =
    /\/providers\/microsoft\.network\/((?:private)?dnszones)(?:\/(.*))?$/.exec(path) ?? [];
  if (zones === undefined)
    return {
      type: /\/resourcegroups(\/[^/]+)?$/.test(path) ? "resourcegroups" : "",
      isList: false,
    };
  const [zone = "", child = "", name = ""] = rest.split("/");
  if (zone === "") return { type: zones, isList: true };
  if (child === "") return { type: zones, isList: false };
  const kind = child === "virtualnetworklinks" ? child : "records";
  return { type: `${zones}/${kind}`, isList: name === "" };
}
