import { expect, test } from "vitest";
import { Journal } from "./journal.ts";

const step = (key: string, name: string, what = "create link service") => ({
  controller: "link",
  kind: "AzurePrivateLinkService",
  key,
  do: what,
  name,
  why: "it is missing",
  at: "2026-01-01T00:00:00.000Z",
});

const put = (thing: string, requestId: string) => ({ verb: "PUT", thing, code: "201", requestId });

test("a write is kept with the step whose resource it names", () => {
  const journal = new Journal();
  const a = journal.begin("pass", step("n/a", "pls-a"));
  const b = journal.begin("pass", step("n/a", "nat", "create NAT subnet"));
  journal.request("pass", put("privateLinkServices/pls-a", "1"));
  journal.request("pass", put("virtualNetworks/v/subnets/nat", "2"));
  expect(a.requests.map(({ requestId }) => requestId)).toEqual(["1"]);
  expect(b.requests.map(({ requestId }) => requestId)).toEqual(["2"]);
});

test("a write is not kept with a step whose name only begins or ends like its own", () => {
  const journal = new Journal();
  const zone = "one.hypershift.local";
  const steps = [`api.${zone}`, `api-int.${zone}`, zone].map((name) =>
    journal.begin("pass", step("n/a", name, "create record")),
  );
  journal.request("pass", put(`privateDnsZones/${zone}/A/api`, "1"));
  journal.request("pass", put(`privateDnsZones/${zone}`, "2"));
  const recorded = steps.map(({ requests }) => requests.map(({ requestId }) => requestId));
  expect(recorded).toEqual([["1"], [], ["2"]]);
});

test("a read is not kept, nor a write of a pass that is over", () => {
  const journal = new Journal();
  const made = journal.begin("pass", step("n/a", "pls-a"));
  journal.request("pass", { ...put("privateLinkServices/pls-a", "1"), verb: "GET" });
  journal.over("pass");
  journal.request("pass", put("privateLinkServices/pls-a", "2"));
  expect(made.requests).toEqual([]);
});

test("only the newest steps are kept, and those of an object can be asked for", () => {
  const journal = new Journal(2);
  for (const key of ["n/a", "n/b", "n/c"]) journal.begin("pass", step(key, "pls-a"));
  expect(journal.steps().map(({ key }) => key)).toEqual(["n/b", "n/c"]);
  expect(journal.steps(new Set(["n/c"])).map(({ number }) => number)).toEqual([3]);
});

test("a listener hears of the beginning and of the end, until it stops listening", () => {
  const journal = new Journal();
  const heard: (string | undefined)[] = [];
  const stop = journal.listen(({ outcome }) => heard.push(outcome));
  const made = journal.begin("pass", step("n/a", "pls-a"));
  journal.end(made, "failed", "Azure said no");
  stop();
  journal.begin("pass", step("n/a", "pls-a"));
  expect(heard).toEqual([undefined, "failed"]);
});

test("what was begun in Azure is done when its object comes to rest, and not before", () => {
  const journal = new Journal();
  const made = journal.begin("pass", step("n/a", "pls-a"));
  const other = journal.begin("pass", step("n/b", "pls-a"));
  for (const each of [made, other]) journal.end(each, "running");
  journal.settle("link", "n/a");
  expect([made.outcome, other.outcome]).toEqual(["done", "running"]);
});
