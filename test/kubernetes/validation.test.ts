import { expect, test } from "vitest";
import { configMaps, describeApi, patches, type Thing } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("unknown and doubled fields", (api) => {
  const widgets = withWidgets(api, {
    spec: { type: "object", properties: { size: { type: "integer" } } },
  });
  const stray = widgets.widget("a", { spec: { size: 1, sise: 2 } });
  const warningsOf = (headers: Record<string, unknown>) => String(headers.warning ?? "");

  test("are reported by a warning", async () => {
    const namespace = await api.namespace();
    const { status, headers, body } = await api.request<Thing>(
      "POST",
      widgets.path(namespace),
      stray,
    );
    expect(status).toBe(201);
    expect(warningsOf(headers)).toBe('299 - "unknown field \\"spec.sise\\""');
    expect(body.spec).toEqual({ size: 1 });
  });

  test("are dropped in silence where that is asked for", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace)}?fieldValidation=Ignore`;
    const { status, headers, body } = await api.request<Thing>("POST", path, stray);
    expect(status).toBe(201);
    expect(headers).not.toHaveProperty("warning");
    expect(body.spec).toEqual({ size: 1 });
  });

  test("are refused where that is asked for", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace)}?fieldValidation=Strict`;
    const answer = await api.refused("POST", path, stray);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
    expect(answer.message).toContain('strict decoding error: unknown field "spec.sise"');
  });

  test("are refused in a built-in kind too", async () => {
    const namespace = await api.namespace();
    const path = `${configMaps(namespace)}?fieldValidation=Strict`;
    const body = { metadata: { name: "a", labls: {} }, dta: {} };
    const answer = await api.refused("POST", path, body);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
    expect(answer.message).toContain('unknown field "dta"');
    expect(answer.message).toContain('unknown field "metadata.labls"');
  });

  test("are dropped from a built-in kind with a warning", async () => {
    const namespace = await api.namespace();
    const body = { metadata: { name: "a" }, dta: {} };
    const answer = await api.request<Thing>("POST", configMaps(namespace), body);
    expect(answer.body).not.toHaveProperty("dta");
    expect(warningsOf(answer.headers)).toBe('299 - "unknown field \\"dta\\""');
  });

  test("of one name twice are reported", async () => {
    const namespace = await api.namespace();
    const text = `{"apiVersion":"${widgets.apiVersion}","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"size":2}}`;
    const { headers, body } = await api.request<Thing>("POST", widgets.path(namespace), text);
    expect(warningsOf(headers)).toBe('299 - "duplicate field \\"spec.size\\""');
    expect(body.spec).toEqual({ size: 2 });
  });

  test.each([
    ["a merge patch", patches.merge, { spec: { sise: 1 } }],
    ["a JSON patch", patches.json, [{ op: "add", path: "/spec/sise", value: 1 }]],
  ])("are reported after %s", async (_what, options, body) => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { size: 1 } }));
    const path = widgets.path(namespace, "a");
    const { headers } = await api.request("PATCH", path, body, options);
    expect(warningsOf(headers)).toContain("spec.sise");
    const answer = await api.refused("PATCH", `${path}?fieldValidation=Strict`, body, options);
    expect(answer.code).toBe(422);
  });

  test("are refused by apply, which knows the schema", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace, "a")}?fieldManager=one&force=true`;
    const { status } = await api.request("PATCH", path, stray, patches.apply);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test("are refused with a value of fieldValidation that does not exist", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace)}?fieldValidation=Sometimes`;
    expect(await api.refused("POST", path, stray)).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("are not reported in metadata that is free", async () => {
    const namespace = await api.namespace();
    const object = {
      ...widgets.widget("a"),
      metadata: { name: "a", annotations: { any: "thing" } },
    };
    const { headers } = await api.request("POST", widgets.path(namespace), object);
    expect(headers).not.toHaveProperty("warning");
  });

  test("with a deprecated version bring a warning", async () => {
    const old = { deprecated: true, deprecationWarning: "widgets are over" };
    const change = [
      { op: "add", path: "/spec/versions/0/deprecated", value: true },
      { op: "add", path: "/spec/versions/0/deprecationWarning", value: old.deprecationWarning },
    ];
    const namespace = await api.namespace();
    await api.ok("PATCH", widgets.crd, change, patches.json);
    await expect
      .poll(async () => warningsOf((await api.request("GET", widgets.path(namespace))).headers))
      .toBe('299 - "widgets are over"');
  });
});
