import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesPermissionsPage } from "./generate-kubernetes-permissions-page.ts";
import { purposes } from "./kubernetes-purposes.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "manifests/rbac");

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

const rulesOf = (file: string) =>
  (parse(readFileSync(join(folder, file), "utf8")) as { rules: Rule[] }).rules;

/** Every permission of a role on a line of its own. */
const permissionsOf = (file: string) =>
  rulesOf(file).flatMap(({ apiGroups, resources, verbs, resourceNames = ["*"] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => `${verb} ${resource}.${group} ${name}`),
        ),
      ),
    ),
  );

test("the page is in step with the manifests", () => {
  const page = readFileSync(join(root, "docs/reference/kubernetes-permissions.md"), "utf8");
  expect(page).toBe(kubernetesPermissionsPage());
});

test.each(readdirSync(folder))("only permissions that %s has are explained", (file) => {
  const held = rulesOf(file).flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => [
      ...verbs.map((verb) => `${resource} ${verb}`),
      ...(verbs.includes("get") || verbs.includes("watch") ? [`${resource} read`] : []),
    ]),
  );
  const explained = Object.keys(purposes[file.replace(/\.yaml$/, "")] ?? {});
  expect(explained.filter((each) => !held.includes(each))).toEqual([]);
});

test("postern-operator has every permission of postern-management", () => {
  const operator = permissionsOf("operator.yaml");
  expect(permissionsOf("management.yaml").filter((each) => !operator.includes(each))).toEqual([]);
});

test("no role for the whole cluster has Secrets, tokens or a wildcard", () => {
  for (const file of ["operator", "management", "topology", "cluster-api"]) {
    const held = permissionsOf(`${file}.yaml`);
    expect(
      held.filter((each) => /secrets|token|^\*| \*\.|\.\* /.test(each)),
      file,
    ).toEqual([]);
  }
});
