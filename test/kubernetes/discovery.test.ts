import { expect, test } from "vitest";
import { describeApi } from "./api.ts";
import { crdOf, newWidgets, served, withWidgets } from "./widgets.ts";

interface Resource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
}
interface ResourceList {
  kind: string;
  groupVersion: string;
  resources: Resource[];
}
interface Group {
  name: string;
  versions: { groupVersion: string; version: string }[];
  preferredVersion: { groupVersion: string; version: string };
}

const every = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describeApi("discovery", (api) => {
  const widgets = withWidgets(api, { names: { shortNames: ["wd"], categories: ["toys"] } });
  const core = async (name: string) =>
    (await api.ok<ResourceList>("GET", "/api/v1")).resources.find((each) => each.name === name);

  test("names the version of the core group", async () => {
    const body = await api.ok("GET", "/api");
    expect(body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
  });

  test.each([
    ["apiextensions.k8s.io", "v1"],
    ["coordination.k8s.io", "v1"],
    ["events.k8s.io", "v1"],
    ["authentication.k8s.io", "v1"],
  ])("names the group %s and its version %s", async (name, version) => {
    const { groups } = await api.ok<{ groups: Group[] }>("GET", "/apis");
    const preferred = { groupVersion: `${name}/${version}`, version };
    const found = groups.find((each) => each.name === name);
    expect(found?.preferredVersion).toEqual(preferred);
    expect(found?.versions).toContainEqual(preferred);
  });

  test.each([
    ["configmaps", "ConfigMap", "configmap", ["cm"], true],
    ["secrets", "Secret", "secret", undefined, true],
    ["services", "Service", "service", ["svc"], true],
    ["serviceaccounts", "ServiceAccount", "serviceaccount", ["sa"], true],
    ["events", "Event", "event", ["ev"], true],
    ["nodes", "Node", "node", ["no"], false],
  ])("describes %s", async (name, kind, singularName, shortNames, namespaced) => {
    const found = await core(name);
    expect(found).toMatchObject({ name, kind, singularName, namespaced });
    expect(found?.shortNames).toEqual(shortNames);
    expect(found?.verbs.toSorted()).toEqual(every);
  });

  test("says that namespaces cannot be deleted all at once", async () => {
    const found = await core("namespaces");
    expect(found).toMatchObject({ kind: "Namespace", namespaced: false, shortNames: ["ns"] });
    expect(found?.verbs.toSorted()).toEqual(every.filter((verb) => verb !== "deletecollection"));
  });

  test.each([
    ["namespaces/finalize", "Namespace", ["update"]],
    ["namespaces/status", "Namespace", ["get", "patch", "update"]],
    ["services/status", "Service", ["get", "patch", "update"]],
    ["nodes/status", "Node", ["get", "patch", "update"]],
    ["serviceaccounts/token", "TokenRequest", ["create"]],
  ])("describes the subresource %s", async (name, kind, verbs) => {
    const found = await core(name);
    expect(found).toMatchObject({ kind });
    expect(found?.verbs.toSorted()).toEqual(verbs);
  });

  test("describes leases as coordination.k8s.io/v1 with their verbs", async () => {
    const { groupVersion, resources } = await api.ok<ResourceList>(
      "GET",
      "/apis/coordination.k8s.io/v1",
    );
    expect(groupVersion).toBe("coordination.k8s.io/v1");
    const found = resources.find(({ name }) => name === "leases");
    expect(found).toMatchObject({ kind: "Lease", singularName: "lease", namespaced: true });
  });

  test("describes the group of a CRD", async () => {
    const version = { groupVersion: widgets.apiVersion, version: "v1" };
    expect(await api.ok("GET", `/apis/${widgets.group}`)).toMatchObject({
      kind: "APIGroup",
      apiVersion: "v1",
      name: widgets.group,
      versions: [version],
      preferredVersion: version,
    });
  });

  test("describes the kind of a CRD with all its names, and its status", async () => {
    const list = await api.ok<ResourceList>("GET", `/apis/${widgets.apiVersion}`);
    expect(list).toMatchObject({ kind: "APIResourceList", groupVersion: widgets.apiVersion });
    const [all, status] = list.resources;
    expect(all).toMatchObject({
      name: "widgets",
      singularName: "widget",
      namespaced: true,
      kind: "Widget",
      shortNames: ["wd"],
      categories: ["toys"],
    });
    expect(all?.verbs.toSorted()).toEqual(every);
    expect(status).toMatchObject({ name: "widgets/status", kind: "Widget", namespaced: true });
    expect(status?.verbs.toSorted()).toEqual(["get", "patch", "update"]);
  });

  test("tells everything at once to those who accept it", async () => {
    const answer = await api.request<{ kind: string; items: AggregatedGroup[] }>(
      "GET",
      "/apis",
      undefined,
      { accept: `${aggregated},application/json` },
    );
    expect(answer.headers["content-type"]).toBe(aggregated);
    expect(answer.body.kind).toBe("APIGroupDiscoveryList");
    const found = answer.body.items.find(({ metadata }) => metadata.name === widgets.group);
    expect(found?.versions).toMatchObject([
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "widgets",
            responseKind: { group: widgets.group, version: "v1", kind: "Widget" },
            scope: "Namespaced",
            singularResource: "widget",
            shortNames: ["wd"],
            categories: ["toys"],
            subresources: [{ subresource: "status" }],
          },
        ],
      },
    ]);
  });

  test("tells everything of the core group at once", async () => {
    const { body } = await api.request<{ items: AggregatedGroup[] }>("GET", "/api", undefined, {
      accept: aggregated,
    });
    const [only] = body.items;
    expect(only?.metadata.name ?? "").toBe("");
    const resources = only?.versions[0]?.resources ?? [];
    const found = resources.find(({ resource }) => resource === "configmaps");
    expect(found).toMatchObject({
      scope: "Namespaced",
      responseKind: { kind: "ConfigMap" },
      shortNames: ["cm"],
    });
    expect(resources.find(({ resource }) => resource === "nodes")?.scope).toBe("Cluster");
  });

  test("prefers a stable version to a beta, and a newer one to an older one", async () => {
    const many = newWidgets();
    const crd = crdOf(many) as { spec: { versions: object[] } };
    const [first] = crd.spec.versions;
    const version = (name: string) => ({ ...first, name, storage: name === "v1" });
    crd.spec.versions = ["v1alpha1", "v1beta1", "v2", "v1"].map(version);
    await api.ok("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    await served(api, many);
    const { versions, preferredVersion } = await api.ok<Group>("GET", `/apis/${many.group}`);
    expect(versions.map((each) => each.version)).toEqual(["v2", "v1", "v1beta1", "v1alpha1"]);
    expect(preferredVersion.version).toBe("v2");
  });

  test.each(["/apis/nobody.example.com", "/apis/nobody.example.com/v1", "/no/such/path"])(
    "answers 404 at %s",
    async (path) => {
      expect((await api.request("GET", path)).status).toBe(404);
    },
  );

  test.each(["/readyz", "/livez", "/healthz"])("answers ok at %s", async (path) => {
    expect(await api.request("GET", path)).toMatchObject({ status: 200, body: "ok" });
  });

  test("tells its version", async () => {
    const version = await api.ok<{ gitVersion: string; major: string; minor: string }>(
      "GET",
      "/version",
    );
    expect(version.gitVersion).toMatch(/^v1\.\d+\.\d+/);
    expect(version.gitVersion).toContain(`v${version.major}.${version.minor}.`);
  });
});

interface AggregatedGroup {
  metadata: { name?: string };
  versions: {
    version: string;
    resources: { resource: string; scope: string; responseKind: object; shortNames?: string[] }[];
  }[];
}
