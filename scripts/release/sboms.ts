import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { BasePart } from "./image-base.ts";

const root = join(import.meta.dirname, "../..");

interface CycloneDx {
  metadata: { component: { name: string; "bom-ref": string } };
  components: object[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

interface Spdx {
  name: string;
  documentDescribes: string[];
  packages: object[];
  relationships: object[];
}

/** What the image consists of: by npm the packages that run in production, with their hashes and licences, and what its base has. */
export function sbom(format: "spdx" | "cyclonedx", base: readonly BasePart[]): object {
  const flags = ["--sbom-format", format, "--omit", "dev", "--workspace", "postern"];
  const text = execFileSync("npm", ["sbom", "--silent", ...flags], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const made: unknown = JSON.parse(text);
  return format === "cyclonedx" ? cycloneDx(made as CycloneDx, base) : spdx(made as Spdx, base);
}

function cycloneDx(made: CycloneDx, base: readonly BasePart[]): CycloneDx {
  const { component } = made.metadata;
  const components = base.map(({ name, version, sha256, purl, licence }) => ({
    "bom-ref": purl,
    type: name === "node" ? "platform" : "library",
    name,
    version,
    scope: "required",
    purl,
    hashes: [{ alg: "SHA-256", content: sha256 }],
    licenses: [{ license: { name: `${licence} of the image` } }],
  }));
  const refs = components.map((each) => each["bom-ref"]);
  return {
    ...made,
    // npm takes the folder of the checkout for the name of the product.
    metadata: { ...made.metadata, component: { ...component, name: "postern" } },
    components: [...made.components, ...components],
    dependencies: [
      ...made.dependencies.map((each) =>
        each.ref === component["bom-ref"]
          ? { ...each, dependsOn: [...(each.dependsOn ?? []), ...refs] }
          : each,
      ),
      ...refs.map((ref) => ({ ref, dependsOn: [] })),
    ],
  };
}

function spdx(made: Spdx, base: readonly BasePart[]): Spdx {
  const packages = base.map(({ name, version, sha256, purl, licence }) => ({
    name,
    SPDXID: `SPDXRef-Package-${purl.replace(/[^A-Za-z0-9.-]+/g, "-")}`,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    homepage: "NOASSERTION",
    licenseDeclared: "NOASSERTION",
    licenseComments: `${licence} of the image`,
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: purl,
      },
    ],
    checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
  }));
  return {
    ...made,
    name: `postern@${made.name.split("@").at(-1)}`,
    packages: [...made.packages, ...packages],
    relationships: [
      ...made.relationships,
      ...packages.map(({ SPDXID }) => ({
        spdxElementId: made.documentDescribes[0],
        relatedSpdxElement: SPDXID,
        relationshipType: "CONTAINS",
      })),
    ],
  };
}
