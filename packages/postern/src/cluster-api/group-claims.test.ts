import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { expect, test } from "vitest";
import { fc } from "../../../../test/setup/random.ts";
import { GroupClaims } from "./group-claims.ts";
import { ageOf, groupKeysOf } from "./tenancy.ts";

const some = fc.record({
  namespace: fc.constantFrom("a", "b", "c"),
  name: fc.constantFrom("x", "y", "z"),
  at: fc.constantFrom("1", "2", "3"),
  resourceGroup: fc.constantFrom("g", "h"),
  network: fc.option(fc.constantFrom("g", "h", "i"), { nil: undefined }),
  deleted: fc.boolean(),
});

test("after any changes, each namespace has the age of its oldest cluster in each group", () => {
  fc.assert(
    fc.property(fc.array(some, { maxLength: 30 }), (changes) => {
      const claims = new GroupClaims();
      const all = new Map<string, AzureCluster>();
      for (const { namespace, name, at, resourceGroup, network, deleted } of changes) {
        const key = `${namespace}/${name}`;
        const networkSpec = { vnet: { name: "v", resourceGroup: network } };
        const after = deleted
          ? undefined
          : ({
              metadata: { namespace, name, creationTimestamp: at },
              spec: { subscriptionID: "s", resourceGroup, networkSpec },
            } as unknown as AzureCluster);
        claims.follow({ before: all.get(key), after });
        if (after === undefined) all.delete(key);
        else all.set(key, after);
        for (const group of ["g", "h", "i"].map(
          (each) => `/subscriptions/s/resourcegroups/${each}`,
        )) {
          const oldest = new Map<string, string>();
          for (const each of all.values()) {
            const home = each.metadata.namespace ?? "";
            if (!groupKeysOf(each).includes(group)) continue;
            const known = oldest.get(home);
            if (known === undefined || ageOf(each) < known) oldest.set(home, ageOf(each));
          }
          const found = claims.of(group).map((each) => [each.namespace, each.age] as const);
          expect(new Map(found)).toEqual(oldest);
        }
      }
    }),
  );
});
