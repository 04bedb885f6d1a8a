import { expect, test } from "vitest";
import { configMaps, describeApi } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("generated names", (api) => {
  const widgets = withWidgets(api);

  test("begin as asked and end in five characters", async () => {
    const namespace = await api.namespace();
    const { metadata } = await api.ok("POST", configMaps(namespace), {
      metadata: { generateName: "run-" },
    });
    expect(metadata.name).toMatch(/^run-[a-z0-9]{5}$/);
    expect(metadata.generateName).toBe("run-");
  });

  test("are new each time", async () => {
    const namespace = await api.namespace();
    const body = {
      apiVersion: widgets.apiVersion,
      kind: "Widget",
      metadata: { generateName: "w-" },
    };
    const names = new Set<string>();
    for (let count = 0; count < 20; count++)
      names.add((await api.ok("POST", widgets.path(namespace), body)).metadata.name);
    expect(names.size).toBe(20);
  });

  test("give way to a name that is given", async () => {
    const namespace = await api.namespace();
    const { metadata } = await api.ok("POST", configMaps(namespace), {
      metadata: { name: "mine", generateName: "run-" },
    });
    expect(metadata.name).toBe("mine");
  });

  test("are cut to fit", async () => {
    const namespace = await api.namespace();
    const { metadata } = await api.ok("POST", configMaps(namespace), {
      metadata: { generateName: "a".repeat(100) },
    });
    expect(metadata.name).toMatch(/^a{58}[a-z0-9]{5}$/);
  });

  test("are not guessed where neither is given", async () => {
    const namespace = await api.namespace();
    const answer = await api.refused("POST", configMaps(namespace), { metadata: {} });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes).toEqual([
      {
        reason: "FieldValueRequired",
        message: "Required value: name or generateName is required",
        field: "metadata.name",
      },
    ]);
  });
});
