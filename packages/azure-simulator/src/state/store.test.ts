import { expect, test } from "vitest";
import { type JsonObject, type Resource, Store } from "./store.ts";

const provider = "/subscriptions/s/resourcegroups/g/providers/microsoft.network";

function resource(name: string, properties: JsonObject = {}): Resource {
  const id = `${provider}/loadbalancers/${name}`;
  const type = "Microsoft.Network/loadBalancers";
  const rest = { top: {}, state: "Succeeded" as const, version: 1, etag: "e" };
  return { id, key: id, type, name, properties, ...rest };
}

const namesOf = (found: Iterable<Resource>) => [...found].map((each) => each.name);

test("who names a part of a resource names the resource too, and nothing above it", () => {
  const store = new Store();
  const frontend = `${provider}/loadbalancers/lb/frontendipconfigurations/f`;
  expect(namesOf(store.referrers(frontend))).toEqual([]);
  store.put(resource("user", { list: [{ frontend: { id: frontend } }] }));
  expect(namesOf(store.referrers(frontend))).toEqual(["user"]);
  expect(namesOf(store.referrers(`${provider}/loadbalancers/lb`))).toEqual(["user"]);
  expect(namesOf(store.referrers(provider))).toEqual([]);
  store.put(resource("user"));
  expect(namesOf(store.referrers(frontend))).toEqual([]);
});
