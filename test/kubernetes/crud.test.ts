import { expect, test } from "vitest";
import { configMaps, describeApi, type List, type Thing } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("objects", (api) => {
  const widgets = withWidgets(api);

  test("are made with an identity of their own", async () => {
    const namespace = await api.namespace();
    const { status, body } = await api.request<Thing>("POST", configMaps(namespace), {
      metadata: { name: "a" },
      data: { key: "value" },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace },
      data: { key: "value" },
    });
    expect(body.metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(body.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test("are the same when they are read as when they were made", async () => {
    const namespace = await api.namespace();
    const made = await api.ok(
      "POST",
      widgets.path(namespace),
      widgets.widget("a", { spec: { b: 1 } }),
    );
    expect(await api.ok("GET", widgets.path(namespace, "a"))).toEqual(made);
  });

  test("ignore the identity that a client makes up", async () => {
    const namespace = await api.namespace();
    const metadata = {
      name: "a",
      uid: "00000000-0000-0000-0000-000000000000",
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      generation: 7,
      selfLink: "/somewhere",
    };
    const made = await api.ok("POST", widgets.path(namespace), {
      ...widgets.widget("a"),
      metadata,
    });
    expect(made.metadata.uid).not.toBe(metadata.uid);
    expect(made.metadata.creationTimestamp).not.toBe(metadata.creationTimestamp);
    expect(made.metadata).not.toHaveProperty("deletionTimestamp");
    expect(made.metadata.generation).toBe(1);
  });

  test("keep their identity when they are replaced", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const replaced = await api.ok("PUT", configMaps(namespace, "a"), {
      metadata: { name: "a" },
      data: { k: "v" },
    });
    expect(replaced.metadata.uid).toBe(made.metadata.uid);
    expect(replaced.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
    expect(replaced.data).toEqual({ k: "v" });
  });

  test("lose what a replacement leaves out", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), {
      metadata: { name: "a", labels: { l: "1" }, annotations: { n: "1" } },
      data: { k: "v" },
    });
    const replaced = await api.ok("PUT", configMaps(namespace, "a"), { metadata: { name: "a" } });
    expect(replaced).not.toHaveProperty("data");
    expect(replaced.metadata).not.toHaveProperty("labels");
    expect(replaced.metadata).not.toHaveProperty("annotations");
  });

  test("do not move when a replacement changes nothing", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", configMaps(namespace), {
      metadata: { name: "a" },
      data: { k: "v" },
    });
    const again = await api.ok("PUT", configMaps(namespace, "a"), made);
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("are made from YAML too", async () => {
    const namespace = await api.namespace();
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
    const made = await api.ok("POST", configMaps(namespace), yaml, {
      contentType: "application/yaml",
    });
    expect(made.data).toEqual({ k: "v" });
  });

  test("are shown as YAML to those who accept it", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const { headers, body } = await api.request<string>(
      "GET",
      configMaps(namespace, "a"),
      undefined,
      {
        accept: "application/yaml",
      },
    );
    expect(headers["content-type"]).toBe("application/yaml");
    expect(body).toContain("kind: ConfigMap\n");
  });

  test("of cluster scope have no namespace", async () => {
    const namespace = await api.namespace();
    const { metadata } = await api.ok("GET", `/api/v1/namespaces/${namespace}`);
    expect(metadata).not.toHaveProperty("namespace");
  });

  test("of one name live in two namespaces", async () => {
    const [one, other] = [await api.namespace(), await api.namespace()];
    const first = await api.ok("POST", configMaps(one), { metadata: { name: "a" } });
    const second = await api.ok("POST", configMaps(other), { metadata: { name: "a" } });
    expect(first.metadata.uid).not.toBe(second.metadata.uid);
  });

  test("that are made a second time are refused", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    expect(await api.refused("POST", configMaps(namespace), { metadata: { name: "a" } })).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "a" already exists',
      reason: "AlreadyExists",
      details: { name: "a", kind: "configmaps" },
      code: 409,
    });
  });

  test("that are not there are not found", async () => {
    const namespace = await api.namespace();
    expect(await api.refused("GET", widgets.path(namespace, "a"))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `widgets.${widgets.group} "a" not found`,
      reason: "NotFound",
      details: { name: "a", group: widgets.group, kind: "widgets" },
      code: 404,
    });
  });

  test("that are not there are not made by replacing them", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("PUT", configMaps(namespace, "a"), {
      metadata: { name: "a" },
    });
    expect(answer).toMatchObject({ code: 404, reason: "NotFound" });
  });

  test("are refused in a namespace that is not there", async () => {
    const answer = await api.refused("POST", configMaps("nowhere"), { metadata: { name: "a" } });
    expect(answer).toMatchObject({
      code: 404,
      reason: "NotFound",
      message: 'namespaces "nowhere" not found',
      details: { name: "nowhere", kind: "namespaces" },
    });
  });

  test("are listed in a namespace that is not there, and there are none", async () => {
    expect((await api.ok<List>("GET", configMaps("nowhere"))).items).toEqual([]);
  });

  test("whose namespace is not that of the path are refused", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), {
      metadata: { name: "a", namespace: "other" },
    });
    expect(answer).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message:
        "the namespace of the provided object does not match the namespace sent on the request",
    });
  });

  test("whose name is not that of the path are refused", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" } });
    const answer = await api.refused("PUT", configMaps(namespace, "a"), {
      metadata: { name: "b" },
    });
    expect(answer).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message: "the name of the object (b) does not match the name on the URL (a)",
    });
  });

  test.each([
    ["capitals", "Capitals"],
    ["a space", "a b"],
    ["an underscore", "a_b"],
    ["a dash at its end", "a-"],
    ["254 characters", "a".repeat(254)],
  ])("whose name has %s are refused", async (_what, name) => {
    const namespace = await api.namespace();
    for (const [path, object] of [
      [configMaps(namespace), { metadata: { name } }],
      [widgets.path(namespace), widgets.widget(name)],
    ] as const) {
      const answer = await api.refused("POST", path, object);
      expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
      expect(answer.details.causes).toMatchObject([
        { reason: "FieldValueInvalid", field: "metadata.name" },
      ]);
    }
  });

  test("with a wrong label are refused, and the field is named", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), {
      metadata: { name: "a", labels: { good: "not good!" } },
    });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid", details: { kind: "ConfigMap" } });
    expect(answer.details.causes).toMatchObject([
      { reason: "FieldValueInvalid", field: "metadata.labels" },
    ]);
  });

  test("of another kind than the path's are refused", async () => {
    const namespace = await api.namespace();
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } };
    const answer = await api.refused("POST", configMaps(namespace), secret);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
    expect(answer.message).toContain("Secret in version");
  });

  test("of a CRD need their kind", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", widgets.path(namespace), { metadata: { name: "a" } });
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("of a CRD in another version than the path's are refused", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", widgets.path(namespace), {
      ...widgets.widget("a"),
      apiVersion: `${widgets.group}/v2`,
    });
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("that are no JSON are refused", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), '{"metadata": {');
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest", status: "Failure" });
  });

  test("of a media type that nobody knows are refused", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), "name=a", {
      contentType: "application/x-www-form-urlencoded",
    });
    expect(answer).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
  });

  test("cannot be shown as something that nobody knows", async () => {
    const namespace = await api.namespace();
    const { status } = await api.request("GET", configMaps(namespace), undefined, {
      accept: "text/plain",
    });
    expect(status).toBe(406);
  });

  test("of a resource that nobody serves are not found", async () => {
    const namespace = await api.namespace();
    const { status } = await api.request("GET", `/api/v1/namespaces/${namespace}/gadgets`);
    expect(status).toBe(404);
  });

  test("are not posted to their own path", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace, "a"), {
      metadata: { name: "a" },
    });
    expect(answer).toMatchObject({
      code: 405,
      reason: "MethodNotAllowed",
      message: "the server does not allow this method on the requested resource",
    });
  });

  test("are deleted all at once by a selector", async () => {
    const namespace = await api.namespace();
    for (const [name, colour] of [
      ["a", "red"],
      ["b", "blue"],
      ["c", "red"],
    ] as const)
      await api.ok("POST", configMaps(namespace), { metadata: { name, labels: { colour } } });
    await api.ok("DELETE", `${configMaps(namespace)}?labelSelector=colour%3Dred`);
    const { items } = await api.ok<List>("GET", configMaps(namespace));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  test("keep numbers, nulls and texts as they were sent", async () => {
    const namespace = await api.namespace();
    const spec = {
      whole: 9007199254740991,
      broken: 0.1,
      negative: -7,
      text: 'ä€😀\u2028 "quoted"',
      no: false,
      list: [1, "a", { deep: [] }],
      empty: {},
    };
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec }));
    expect((await api.ok("GET", widgets.path(namespace, "a"))).spec).toEqual(spec);
  });

  test("are taken up to a size of a megabyte, and no larger than three", async () => {
    const namespace = await api.namespace();
    const of = (name: string, bytes: number) =>
      widgets.widget(name, { spec: { text: "a".repeat(bytes) } });
    expect((await api.request("POST", widgets.path(namespace), of("a", 1_000_000))).status).toBe(
      201,
    );
    const { status } = await api.request("POST", widgets.path(namespace), of("b", 4_000_000));
    expect(status).toBe(413);
  });

  test("that are large are sent compressed to those who take that", async () => {
    const namespace = await api.namespace();
    const data = { text: "a".repeat(500_000) };
    await api.ok("POST", configMaps(namespace), { metadata: { name: "a" }, data });
    const { headers } = await api.request("GET", configMaps(namespace), undefined, {
      headers: { "accept-encoding": "gzip" },
    });
    expect(headers["content-encoding"]).toBe("gzip");
  });
});
