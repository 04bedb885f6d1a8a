import { readdirSync, readFileSync } from "node:fs";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";

/** A role as Azure has it. Tests prove that with it everything works, and that no action can be left out. */
export interface Role {
  identity: string;
  Name: string;
  Description: string;
  AssignableScopes: string[];
  Actions: string[];
}

/** In a checkout they are at its root; the build puts them beside `dist`. */
const root = import.meta.url.endsWith(".ts") ? "../../../../" : "../../";
const folder = new URL(`${root}manifests/roles/`, import.meta.url);

/** The roles, or the one of an identity; with the given scope in place of the one to fill in. */
export function rolesFor(identity: string | undefined, scope: string | undefined): Role[] {
  const known = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replace(/\.json$/, ""))
    .sort();
  if (identity !== undefined && !known.includes(identity)) {
    const meant = nearest(identity, known);
    throw new UsageError(
      `unknown identity '${identity}': ${meant ? `did you mean '${meant}'?` : `use one of ${known.join(", ")}`}`,
    );
  }
  const scopes = scope === undefined ? undefined : [parseResourceId(scope)];
  return known
    .filter((name) => identity === undefined || name === identity)
    .map((name) => {
      const role = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as Role;
      return { ...role, identity: name, ...(scopes && { AssignableScopes: scopes }) };
    });
}

/** Roles in the form that a tool reads. */
export function formatRoles(
  roles: readonly Role[],
  format: "json" | "az" | "bicep" | "terraform",
): string {
  if (format === "json")
    return JSON.stringify(roles.length === 1 ? plain(roles[0]) : roles.map(plain), undefined, 2);
  const one = { az: asAz, bicep: asBicep, terraform: asTerraform }[format];
  const head = format === "bicep" ? ["targetScope = 'subscription'"] : [];
  return [...head, ...roles.map(one)].join("\n\n");
}

function plain(role: Role | undefined) {
  const { identity: _, ...rest } = role ?? ({} as Role);
  return rest;
}

function asAz(role: Role): string {
  return `az role definition create --role-definition ${shellWord(JSON.stringify(plain(role)))}`;
}

function asBicep({ identity, Name, Description, Actions, AssignableScopes }: Role): string {
  const list = (all: readonly string[], indent: string) =>
    all.map((each) => `${indent}'${bicepText(each)}'`).join("\n");
  return `resource ${symbol(identity)} 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(subscription().id, '${bicepText(Name)}')
  properties: {
    roleName: '${bicepText(Name)}'
    description: '${bicepText(Description)}'
    type: 'CustomRole'
    permissions: [
      {
        actions: [
${list(Actions, "          ")}
        ]
      }
    ]
    assignableScopes: [
${list(AssignableScopes, "      ")}
    ]
  }
}`;
}

function asTerraform({ identity, Name, Description, Actions, AssignableScopes }: Role): string {
  const list = (all: readonly string[]) =>
    all.map((each) => `    ${JSON.stringify(each)},`).join("\n");
  const [scope = ""] = AssignableScopes;
  return `resource "azurerm_role_definition" "${symbol(identity)}" {
  name        = ${JSON.stringify(Name)}
  description = ${JSON.stringify(Description)}
  scope       = ${JSON.stringify(scope)}

  permissions {
    actions = [
${list(Actions).replace(/^ {4}/gm, "      ")}
    ]
  }

  assignable_scopes = [
${list(AssignableScopes)}
  ]
}`;
}

function symbol(identity: string): string {
  return `postern_${identity.replaceAll("-", "_")}`;
}

function bicepText(text: string): string {
  return text.replaceAll("'", "\\'");
}
