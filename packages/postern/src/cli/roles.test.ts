import { expect, test } from "vitest";
import { formatRoles, rolesFor } from "./roles.ts";

const scope = "/subscriptions/s/resourceGroups/mc";

test("every identity has a role of its own, with actions that are no patterns", () => {
  const roles = rolesFor(undefined, undefined);
  expect(roles.map(({ identity }) => identity)).toEqual(
    expect.arrayContaining(["agent", "cluster-api", "guest", "management"]),
  );
  for (const { Actions, AssignableScopes } of roles) {
    expect(Actions.length).toBeGreaterThan(0);
    expect(Actions.filter((action) => action.includes("*"))).toEqual([]);
    expect(AssignableScopes).toHaveLength(1);
  }
});

test("an identity that is not known offers the nearest", () => {
  expect(() => rolesFor("managment", undefined)).toThrow("did you mean 'management'?");
  expect(() => rolesFor("toString", undefined)).toThrow("use one of agent, ");
});

test("a scope takes the place of the one to fill in, and must be an id", () => {
  expect(rolesFor("guest", scope)[0]?.AssignableScopes).toEqual([scope]);
  expect(() => rolesFor("guest", "here")).toThrow();
});

const role = {
  identity: "cluster-api",
  Name: "Postern it's",
  Description: "It's for 'tests'.",
  AssignableScopes: [scope],
  Actions: ["Microsoft.Network/loadBalancers/read", "Microsoft.Network/privateEndpoints/write"],
};

test("as JSON it is what az reads, one alone or several in a list", () => {
  const { identity: _, ...plain } = role;
  expect(JSON.parse(formatRoles([role], "json"))).toEqual(plain);
  expect(JSON.parse(formatRoles([role, role], "json"))).toEqual([plain, plain]);
});

test("for az it is one command whose argument a shell gives back whole", () => {
  const text = formatRoles([role], "az");
  const [, quoted = ""] = /^az role definition create --role-definition '(.*)'$/.exec(text) ?? [];
  expect(JSON.parse(quoted.replaceAll("'\\''", "'"))).toMatchObject({ Name: role.Name });
});

test("a role is printed as a resource of Bicep", () => {
  expect(formatRoles([role], "bicep")).toBe(`targetScope = 'subscription'

resource postern_cluster_api 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(subscription().id, 'Postern it\\'s')
  properties: {
    roleName: 'Postern it\\'s'
    description: 'It\\'s for \\'tests\\'.'
    type: 'CustomRole'
    permissions: [
      {
        actions: [
          'Microsoft.Network/loadBalancers/read'
          'Microsoft.Network/privateEndpoints/write'
        ]
      }
    ]
    assignableScopes: [
      '${scope}'
    ]
  }
}`);
});

test("a role is printed as a resource of Terraform", () => {
  expect(
    formatRoles([role], "terraform"),
  ).toBe(`resource "azurerm_role_definition" "postern_cluster_api" {
  name        = "Postern it's"
  description = "It's for 'tests'."
  scope       = "${scope}"

  permissions {
    actions = [
      "Microsoft.Network/loadBalancers/read",
      "Microsoft.Network/privateEndpoints/write",
    ]
  }

  assignable_scopes = [
    "${scope}",
  ]
}`);
});
