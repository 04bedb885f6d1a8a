import { expect, test } from "vitest";
import { management } from "../../../../../../../test/cluster-api/paper-clusters.ts";
import { changedEndpoints } from "./changed-endpoints.ts";

const endpoint = (link: string, location = "a") => ({
  name: `${link}-privateendpoint`,
  location,
  privateLinkServiceConnections: [],
});

function cluster(links: readonly string[], ready?: string, location?: string) {
  const isOwned = management({ endpoints: links.map((each) => endpoint(each, location)) });
  isOwned.status = {
    conditions: ready
      ? [{ type: "PrivateEndpointsReady", status: ready as "True", lastTransitionTime: "" }]
      : [],
  };
  return isOwned;
}

test("only those are told whose endpoint came, changed or went", () => {
  const changed = changedEndpoints();
  expect(changed(cluster(["a", "b"]))).toEqual(["a", "b"]);
  expect(changed(cluster(["a", "b"]))).toEqual([]);
  expect(changed(cluster(["a", "b", "c"]))).toEqual(["c"]);
  expect(changed(cluster(["a", "c"]))).toEqual(["b"]);
  expect(changed(cluster(["a", "c"], undefined, "elsewhere"))).toEqual(["a", "c"]);
});

test("when CAPZ comes to say that all are ready, those that changed lately are told once more", () => {
  const changed = changedEndpoints();
  changed(cluster(["a"], "True"));
  expect(changed(cluster(["a", "b"], "True"))).toEqual(["b"]);
  expect(changed(cluster(["a", "b"], "False"))).toEqual([]);
  expect(changed(cluster(["a", "b"], "True"))).toEqual(["b"]);
  expect(changed(cluster(["a", "b"], "False"))).toEqual([]);
  expect(changed(cluster(["a", "b"], "True"))).toEqual([]);
});

test("what is not named as ours are tells nobody", () => {
  const changed = changedEndpoints();
  const isOwned = management({ endpoints: [{ name: "mine", privateLinkServiceConnections: [] }] });
  expect(changed(isOwned)).toEqual([]);
});
