import { expect, test } from "vitest";
import { describeApi, patches } from "./api.ts";
import { installWidgets, withWidgets } from "./widgets.ts";

describeApi("rules in CEL", (api) => {
  const text = { type: "string", maxLength: 64 };
  const rules = (...all: object[]) => ({ "x-kubernetes-validations": all });
  const widgets = withWidgets(api, {
    spec: {
      type: "object",
      properties: {
        min: { type: "integer" },
        max: { type: "integer" },
        fixed: { ...text, ...rules({ rule: "self == oldSelf", message: "fixed cannot change" }) },
        once: { ...text, ...rules({ rule: "self == oldSelf", message: "once cannot change" }) },
        names: {
          type: "array",
          maxItems: 5,
          items: {
            ...text,
            ...rules({ rule: "self.startsWith('n')", message: "must begin with n" }),
          },
        },
        people: {
          type: "array",
          maxItems: 5,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: {
              name: text,
              age: {
                type: "integer",
                ...rules({ rule: "self >= oldSelf", message: "nobody grows younger" }),
              },
            },
          },
        },
        map: {
          type: "object",
          maxProperties: 5,
          additionalProperties: text,
          ...rules({ rule: "self.all(k, k != 'bad')", message: "no bad keys" }),
        },
        wait: {
          ...text,
          ...rules({ rule: "duration(self) <= duration('1h')", message: "too long" }),
        },
        host: { ...text, ...rules({ rule: "self.matches('^[a-z.]+$')", message: "not a host" }) },
        cidr: { ...text, ...rules({ rule: "isCIDR(self)", message: "not a range" }) },
        ip: {
          ...text,
          ...rules({ rule: "isIP(self) && ip(self).family() == 4", message: "not an address" }),
        },
        said: {
          type: "integer",
          ...rules({
            rule: "self < 10",
            messageExpression: "self > 20 ? 'far too large' : 'somewhat too large'",
          }),
        },
        placed: {
          type: "object",
          properties: { a: { type: "integer" } },
          ...rules({
            rule: "!has(self.a) || self.a > 0",
            message: "more than 0",
            fieldPath: ".a",
            reason: "FieldValueForbidden",
          }),
        },
      },
      ...rules(
        {
          rule: "!has(self.min) || !has(self.max) || self.min <= self.max",
          message: "min is above max",
        },
        {
          rule: "has(self.once) == has(oldSelf.once)",
          message: "once comes and goes with the object",
        },
      ),
    },
  });
  const here = async (spec: object) => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec }));
    return widgets.path(namespace, "a");
  };
  const refuse = async (spec: object) =>
    api.refused("POST", widgets.path(await api.namespace()), widgets.widget("a", { spec }));

  test.each<[string, object, string, string]>([
    ["over two fields", { min: 2, max: 1 }, "spec", "Invalid value: min is above max"],
    [
      "of each item",
      { names: ["na", "xa"] },
      "spec.names[1]",
      'Invalid value: "xa": must begin with n',
    ],
    ["over a map", { map: { bad: "1" } }, "spec.map", "Invalid value: no bad keys"],
    ["over durations", { wait: "2h" }, "spec.wait", 'Invalid value: "2h": too long'],
    ["by a pattern", { host: "A B" }, "spec.host", 'Invalid value: "A B": not a host'],
    ["over ranges", { cidr: "10.0.0.0" }, "spec.cidr", 'Invalid value: "10.0.0.0": not a range'],
    ["over addresses", { ip: "fd00::1" }, "spec.ip", 'Invalid value: "fd00::1": not an address'],
    [
      "that make up their message",
      { said: 12 },
      "spec.said",
      "Invalid value: 12: somewhat too large",
    ],
  ])("%s refuse, with message and field", async (_what, spec, field, message) => {
    const answer = await refuse(spec);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.details.causes).toEqual([{ reason: "FieldValueInvalid", message, field }]);
  });

  test("name another field and another reason where they say so", async () => {
    const answer = await refuse({ placed: { a: 0 } });
    expect(answer.details.causes).toEqual([
      { reason: "FieldValueForbidden", message: "Forbidden: more than 0", field: "spec.placed.a" },
    ]);
  });

  test.each<[string, object]>([
    ["over two fields", { min: 1, max: 1 }],
    ["over a map", { map: { good: "1" } }],
    ["over durations", { wait: "30m" }],
    ["over ranges", { cidr: "10.0.0.0/8" }],
    ["over addresses", { ip: "10.0.0.1" }],
  ])("%s let through what holds", async (_what, spec) => {
    await here(spec);
  });

  test("over a change hold against what was there", async () => {
    const path = await here({ fixed: "a" });
    const answer = await api.refused("PATCH", path, { spec: { fixed: "b" } });
    expect(answer.details.causes).toEqual([
      {
        reason: "FieldValueInvalid",
        message: 'Invalid value: "b": fixed cannot change',
        field: "spec.fixed",
      },
    ]);
    expect((await api.ok("PATCH", path, { spec: { min: 1 } })).spec).toEqual({
      fixed: "a",
      min: 1,
    });
  });

  test("over a change do not hold where there was nothing before", async () => {
    const path = await here({});
    expect((await api.ok("PATCH", path, { spec: { fixed: "a" } })).spec).toEqual({ fixed: "a" });
    expect((await api.ok("PATCH", path, { spec: { fixed: null } })).spec).toEqual({});
  });

  test("over a change of the parent see a field come and go", async () => {
    const path = await here({ min: 1 });
    expect((await api.refused("PATCH", path, { spec: { once: "a" } })).message).toContain(
      "once comes and goes with the object",
    );
    const other = await here({ once: "a" });
    expect((await api.refused("PATCH", other, { spec: { once: null } })).code).toBe(422);
  });

  test("over a change follow the items of a list by their key", async () => {
    const path = await here({
      people: [
        { name: "x", age: 5 },
        { name: "y", age: 7 },
      ],
    });
    const turned = {
      spec: {
        people: [
          { name: "y", age: 8 },
          { name: "x", age: 5 },
        ],
      },
    };
    await api.ok("PATCH", path, turned);
    const younger = {
      spec: {
        people: [
          { name: "y", age: 8 },
          { name: "x", age: 4 },
        ],
      },
    };
    const answer = await api.refused("PATCH", path, younger);
    expect(answer.details.causes?.[0]).toMatchObject({ field: "spec.people[1].age" });
  });

  test("hold for an apply", async () => {
    const namespace = await api.namespace();
    const path = `${widgets.path(namespace, "a")}?fieldManager=one`;
    const body = widgets.widget("a", { spec: { min: 2, max: 1 } });
    const answer = await api.refused("PATCH", path, body, patches.apply);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("over a wrong type are not asked", async () => {
    const answer = await refuse({ min: "x", max: 1 });
    expect(answer.details.causes?.[0]).toMatchObject({
      reason: "FieldValueTypeInvalid",
      field: "spec.min",
    });
    expect(answer.message).not.toContain("min is above max");
  });

  test("may see the name of their object", async () => {
    const named = await installWidgets(api, {
      schema: {
        type: "object",
        ...rules({ rule: "self.metadata.name.size() <= 3", message: "a short name" }),
      },
    });
    const namespace = await api.namespace();
    await api.ok("POST", named.path(namespace), named.widget("abc"));
    const answer = await api.refused("POST", named.path(namespace), named.widget("abcd"));
    expect(answer.message).toContain("a short name");
  });

  test("that were broken before the rule came do not stop other changes", async () => {
    const ratcheted = await installWidgets(api, {
      spec: { type: "object", properties: { size: { type: "integer" }, colour: text } },
    });
    const namespace = await api.namespace();
    const path = ratcheted.path(namespace, "a");
    await api.ok("POST", ratcheted.path(namespace), ratcheted.widget("a", { spec: { size: 9 } }));
    const at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum";
    await api.ok("PATCH", ratcheted.crd, [{ op: "add", path: at, value: 5 }], patches.json);
    let size = 9;
    await expect
      .poll(async () => (await api.request("PATCH", path, { spec: { size: ++size } })).status)
      .toBe(422);
    const patched = await api.ok("PATCH", path, { spec: { colour: "red" } });
    expect(patched.spec).toMatchObject({ colour: "red" });
  });
});
