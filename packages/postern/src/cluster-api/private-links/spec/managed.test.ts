import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { describe, expect, test } from "vitest";
import { conditions } from "../../names.ts";
import { reasons } from "../reasons.ts";
import { capzFinalizer, managedAnnotation, managedScopes } from "./managed.ts";

const lastTransitionTime = "2026-01-01T00:00:00Z";

function cluster(over: {
  annotation?: string;
  conditions?: { type: string; status?: "True" | "False"; reason?: string }[];
  capz?: boolean;
  links?: unknown;
}): AzureCluster {
  return {
    metadata: {
      name: "wc",
      ...(over.annotation !== undefined && {
        annotations: { [managedAnnotation]: over.annotation },
      }),
      ...(over.capz && { finalizers: [capzFinalizer] }),
    },
    spec: {
      location: "westeurope",
      networkSpec: { apiServerLB: { privateLinks: over.links as never } },
    },
    status: {
      conditions: (over.conditions ?? []).map((each) => ({
        status: "True",
        lastTransitionTime,
        ...each,
      })),
    },
  };
}

const links = [{ name: "a" }];
const theirLinks = { type: conditions.privateLinks };
const theirEndpoints = {
  type: conditions.privateEndpoints,
  status: "False",
  reason: "Creating",
} as const;

describe("Postern makes", () => {
  test.each<[string, Parameters<typeof cluster>[0], string[]]>([
    ["both where nobody else is there", { links }, ["links", "endpoints"]],
    [
      "no links where somebody else says that they are ready",
      { conditions: [theirLinks] },
      ["endpoints"],
    ],
    ["no endpoints where CAPZ is making them", { conditions: [theirEndpoints] }, ["links"]],
    ["nothing where CAPZ says both", { conditions: [theirLinks, theirEndpoints] }, []],
    [
      "what it made before",
      { conditions: [{ ...theirLinks, reason: reasons.ready }] },
      ["links", "endpoints"],
    ],
    [
      "what it could not make before",
      { conditions: [{ ...theirEndpoints, reason: reasons.notMade }] },
      ["links", "endpoints"],
    ],
    ["the links of a stock CAPZ, which knows of none", { capz: true }, ["links"]],
    ["no links of the spec with a CAPZ, whose schema has them", { capz: true, links }, []],
    [
      "links with a CAPZ whose list holds nothing but null",
      { capz: true, links: [null] },
      ["links"],
    ],
    [
      "what it is told to, whoever is there",
      { capz: true, links, conditions: [theirLinks], annotation: "Links, endpoints" },
      ["links", "endpoints"],
    ],
    ["only what it is told to", { annotation: "endpoints" }, ["endpoints"]],
    ["nothing where it is told so", { annotation: "none", links }, []],
  ])("%s", (_what, over, scopes) => {
    expect(managedScopes(cluster(over))).toEqual(scopes);
  });
});

test("no reason of ours is one that CAPZ writes", () => {
  const asoReasons = [
    "Creating",
    "Updating",
    "Deleting",
    "Deleted",
    "DeletionFailed",
    "Failed",
    "",
  ];
  expect(Object.values(reasons).filter((each) => asoReasons.includes(each))).toEqual([]);
});
