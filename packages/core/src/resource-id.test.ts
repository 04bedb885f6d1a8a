import { describe, expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import { isExplained } from "./failure.ts";
import {
  buildResourceId,
  childId,
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  partsOf,
  ResourceIdError,
  type ResourceIdParts,
  resourceGroupId,
  resourceGroupOf,
  resourceIn,
  sameId,
  subscriptionId,
  subscriptionOf,
  tryParseResourceId,
  typeOf,
} from "./resource-id.ts";

const group = "/subscriptions/5e1/resourceGroups/rg";
const network = `${group}/providers/Microsoft.Network/virtualNetworks/hub`;
const subnet = `${network}/subnets/nat`;

describe("an id is taken apart", () => {
  test("into subscription, resource group, provider and path", () => {
    expect(partsOf(parseResourceId(subnet))).toEqual({
      subscription: "5e1",
      resourceGroup: "rg",
      provider: "Microsoft.Network",
      path: [
        { type: "virtualNetworks", name: "hub" },
        { type: "subnets", name: "nat" },
      ],
    });
  });

  test.each([
    ["a subscription", "/subscriptions/5e1", "5e1", "Microsoft.Resources/subscriptions", undefined],
    ["a resource group", group, "rg", "Microsoft.Resources/resourceGroups", "/subscriptions/5e1"],
    ["a resource", network, "hub", "Microsoft.Network/virtualNetworks", group],
    ["a child", subnet, "nat", "Microsoft.Network/virtualNetworks/subnets", network],
    [
      "an operation of a subscription",
      "/subscriptions/5e1/providers/Microsoft.Network/locations/westeurope/operations/7",
      "7",
      "Microsoft.Network/locations/operations",
      "/subscriptions/5e1/providers/Microsoft.Network/locations/westeurope",
    ],
    [
      "a resource of a subscription",
      "/subscriptions/5e1/providers/Microsoft.Network/locations/westeurope",
      "westeurope",
      "Microsoft.Network/locations",
      "/subscriptions/5e1",
    ],
    [
      "a role on a network",
      `${network}/providers/Microsoft.Authorization/roleAssignments/r`,
      "r",
      "Microsoft.Authorization/roleAssignments",
      network,
    ],
    [
      "a role of the tenant",
      "/providers/Microsoft.Authorization/roleDefinitions/r",
      "r",
      "Microsoft.Authorization/roleDefinitions",
      undefined,
    ],
  ])("%s has a name, a type and a parent", (_what, text, name, type, parent) => {
    const id = parseResourceId(text);
    expect(nameOf(id)).toBe(name);
    expect(typeOf(id)).toBe(type);
    expect(parentOf(id)).toBe(parent);
  });

  test("a resource of the tenant lies in no subscription and no resource group", () => {
    const id = parseResourceId("/providers/Microsoft.Authorization/roleDefinitions/r");
    expect([subscriptionOf(id), resourceGroupOf(id)]).toEqual([undefined, undefined]);
    expect([
      subscriptionOf(parseResourceId(subnet)),
      resourceGroupOf(parseResourceId(subnet)),
    ]).toEqual(["5e1", "rg"]);
  });
});

describe("an id is spelled in one way", () => {
  test("whatever case its fixed words come in", () => {
    expect(parseResourceId("/SUBSCRIPTIONS/5e1/resourcegroups/RG")).toBe(
      "/subscriptions/5e1/resourceGroups/RG",
    );
  });

  test("and with the spelling of its type when that is known", () => {
    const answered =
      "/subscriptions/5e1/resourcegroups/RG/Providers/microsoft.network/privatednszones/Example.com";
    expect(parseResourceId(answered, "Microsoft.Network/privateDnsZones")).toBe(
      "/subscriptions/5e1/resourceGroups/RG/providers/Microsoft.Network/privateDnsZones/Example.com",
    );
  });

  test("a resource group can be asked for by type", () => {
    expect(parseResourceId(group, "Microsoft.Resources/resourceGroups")).toBe(group);
  });
});

describe("an id is put together", () => {
  const scope = resourceGroupId("5e1", "rg");

  test("from a scope, a type and names", () => {
    expect(scope).toBe(group);
    expect(subscriptionId("5e1")).toBe("/subscriptions/5e1");
    expect(resourceIn(scope, "Microsoft.Network/virtualNetworks/subnets", "hub", "nat")).toBe(
      subnet,
    );
    expect(childId(parseResourceId(network), "subnets", "nat")).toBe(subnet);
  });

  test("on another resource", () => {
    expect(
      resourceIn(parseResourceId(network), "Microsoft.Authorization/roleAssignments", "r"),
    ).toBe(`${network}/providers/Microsoft.Authorization/roleAssignments/r`);
  });

  test.each([
    ["a name is missing", () => resourceIn(scope, "Microsoft.Network/virtualNetworks"), 8],
    [
      "a name is one too many",
      () => resourceIn(scope, "Microsoft.Network/virtualNetworks", "a", "b"),
      9,
    ],
    ["a name holds a slash", () => childId(parseResourceId(network), "subnets", "a/b"), 10],
    ["a type opens another provider", () => childId(parseResourceId(network), "providers", "x"), 9],
    ["a group is in no subscription", () => buildResourceId({ resourceGroup: "g", path: [] }), 1],
  ])("but not when %s", (_why, build, position) => {
    expect(build).toThrow(expect.objectContaining({ name: "ResourceIdError", position }));
  });
});

describe("a text that is no id is refused by segment", () => {
  test.each([
    ["", 1, 'segment 1 is "" and must be after a leading "/"'],
    ["subscriptions/x", 1, 'segment 1 is "subscriptions" and must be after a leading "/"'],
    ["/", 1, 'segment 1 is "" and must be not empty'],
    ["/groups/x", 1, 'segment 1 is "groups" and must be "subscriptions" or "providers"'],
    ["/subscriptions", 2, "it ends where segment 2 must be the number of a subscription"],
    [
      "/subscriptions/x/resourceGroup/y",
      3,
      'segment 3 is "resourceGroup" and must be "resourceGroups" or "providers"',
    ],
    [`${group}/`, 5, 'segment 5 is "" and must be not empty'],
    [`${group}/virtualNetworks/hub`, 5, 'segment 5 is "virtualNetworks" and must be "providers"'],
    [`${group}/providers/Microsoft.Network`, 7, "it ends where segment 7 must be a resource type"],
    [
      `${group}/providers/Microsoft.Network/loadBalancers`,
      8,
      "it ends where segment 8 must be the name of one of the loadBalancers",
    ],
    [`${group}/../x`, 5, 'segment 5 is ".." and must be a name, and not a step in a path'],
    [
      "/subscriptions/x?y=1",
      2,
      'segment 2 is "x?y=1" and must be without ?, #, %, \\ and control characters',
    ],
  ])("%j at segment %i", (text, position, complaint) => {
    const error = refusal(() => parseResourceId(text));
    expect(error.position).toBe(position);
    expect(error.message).toBe(`${JSON.stringify(text)} is not a valid resource id: ${complaint}`);
    expect(error.explain()).toEqual({
      reason: "InvalidResourceId",
      message: error.message,
      terminal: true,
    });
    expect(isExplained(error)).toBe(true);
  });

  test.each([
    [
      "another type",
      `${group}/providers/Microsoft.Network/loadBalancers/hub/subnets/nat`,
      7,
      'segment 7 is "loadBalancers" and must be "virtualNetworks"',
    ],
    [
      "another provider",
      `${group}/providers/Microsoft.Compute/virtualNetworks/hub/subnets/nat`,
      6,
      'segment 6 is "Microsoft.Compute" and must be "Microsoft.Network"',
    ],
    ["a parent", network, 9, 'it ends where segment 9 must be "subnets"'],
    ["a child", `${subnet}/parts/x`, 11, 'segment 11 is "parts" and must be left out'],
    ["a resource group", group, 6, 'it ends where segment 6 must be "Microsoft.Network"'],
  ])("an id of %s where a subnet is asked for", (_what, text, position, complaint) => {
    const type = "Microsoft.Network/virtualNetworks/subnets";
    const error = refusal(() => parseResourceId(text, type));
    expect(error.position).toBe(position);
    expect(error.message).toContain(`${complaint}, in an id of type ${type}`);
  });

  test("and a message stays short, however long the text", () => {
    const error = refusal(() => parseResourceId(`/subscriptions/${"x".repeat(100_000)}/y`));
    expect(error.message.length).toBeLessThan(1000);
  });
});

describe("for every id", () => {
  const word = fc.stringMatching(/^[A-Za-z0-9_()-][A-Za-z0-9_.()*-]{0,12}$/);
  const type = word.filter((text) => text.toLowerCase() !== "providers");
  const path = fc.array(fc.record({ type, name: word }), { minLength: 1, maxLength: 4 });
  const place = fc.oneof(
    fc.constant({}),
    fc.record({ subscription: word }),
    fc.record({ subscription: word, resourceGroup: word }),
  );
  const resource: fc.Arbitrary<ResourceIdParts> = fc
    .tuple(place, word, path)
    .map(([where, provider, steps]) => ({ ...where, provider, path: steps }));
  const scope: fc.Arbitrary<ResourceIdParts> = place
    .filter((where) => "subscription" in where)
    .map((where) => ({ ...where, path: [] }));
  const extension: fc.Arbitrary<ResourceIdParts> = fc
    .tuple(resource, word, path)
    .map(([on, provider, steps]) => ({ ...on, extends: on, provider, path: steps }));
  const parts = fc.oneof(resource, scope, extension);
  const swapCase = (text: string, bits: number[]) =>
    [...text].map((c, at) => (bits[at % bits.length] ? c.toUpperCase() : c.toLowerCase())).join("");
  const bits = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 30 });

  test("reading back what was put together gives the same parts and the same text", () => {
    fc.assert(
      fc.property(parts, (made) => {
        const id = buildResourceId(made);
        expect(partsOf(id)).toEqual(made);
        expect(parseResourceId(id)).toBe(id);
      }),
    );
  });

  test("case makes no difference", () => {
    fc.assert(
      fc.property(parts, bits, (made, mask) => {
        const id = buildResourceId(made);
        const other = parseResourceId(swapCase(id, mask));
        expect(sameId(id, other)).toBe(true);
        expect(idKey(id)).toBe(idKey(other));
        expect(typeOf(other).toLowerCase()).toBe(typeOf(id).toLowerCase());
        expect(parseResourceId(other, typeOf(id))).toSatisfy((text: string) => sameId(text, id));
      }),
    );
  });

  test("a parent is shorter, and the child of the parent is the id", () => {
    fc.assert(
      fc.property(parts, (made) => {
        const id = buildResourceId(made);
        const parent = parentOf(id);
        if (parent === undefined) return;
        expect(id.startsWith(`${parent}/`)).toBe(true);
        const last = made.path.at(-1);
        if (last && made.path.length > 1) expect(childId(parent, last.type, last.name)).toBe(id);
      }),
    );
  });

  test("no text makes the parser throw anything but its own error", () => {
    const pieces = fc.constantFrom(
      "subscriptions",
      "resourceGroups",
      "providers",
      "",
      "..",
      "x",
      "a b",
    );
    const near = fc
      .array(fc.oneof(pieces, fc.string()), { maxLength: 12 })
      .map((all) => `/${all.join("/")}`);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), near), (text) => {
        try {
          const id = parseResourceId(text);
          expect(parseResourceId(id)).toBe(id);
        } catch (error) {
          expect(error).toBeInstanceOf(ResourceIdError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function refusal(act: () => unknown): ResourceIdError {
  try {
    act();
  } catch (error) {
    if (error instanceof ResourceIdError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test.each([
  ["nothing", undefined],
  ["a number", 7],
  ["an empty text", ""],
  ["a word", "rubbish"],
  ["a way out of its place", `${group}/../../other`],
  ["an id of another type", network],
])("%s is no id of a subnet", (_, text) => {
  expect(tryParseResourceId(text, "Microsoft.Network/virtualNetworks/subnets")).toBeUndefined();
});

test("an id that anybody may have written is read as any other", () => {
  expect(tryParseResourceId(subnet.toUpperCase())).toBe(parseResourceId(subnet.toUpperCase()));
});
