import { readFileSync } from "node:fs";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { desiredOf } from "postern/cluster-api/private-links/spec/desired.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { describeHosted } from "../hosted/world.ts";
import { namespaces } from "./objects.ts";

const guide = readFileSync(new URL("../../../docs/guides/cluster-api.md", import.meta.url), "utf8");
const objects = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, text = ""]) => parse(text) as AzureCluster,
);

describe("the guide to Cluster API", () => {
  test("has clusters of which nothing is misread", () => {
    expect(objects).toHaveLength(3);
    for (const object of objects) {
      const { links, problems } = desiredOf(object);
      expect(problems).toEqual([]);
      expect(links).toHaveLength(1);
    }
  });

  describeHosted("on an API server", (start) => {
    test("has clusters that it takes", async () => {
      const world = await start({ features: () => [] });
      await namespaces(world, "org", "org-mc");
      for (const object of objects) await world.make(object as never);
      expect(await world.list("AzureCluster")).toHaveLength(objects.length);
    });
  });
});
