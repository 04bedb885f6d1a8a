import { stringify } from "yaml";

/** The manifest by which `kubectl krew install postern` finds the command: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
export function krewManifest(options: {
  version: string;
  uri: string;
  sha256: string;
  homepage: string;
}): string {
  const { version, uri, sha256, homepage } = options;
  return stringify(
    {
      apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
      kind: "Plugin",
      metadata: { name: "postern" },
      spec: {
        version: `v${version}`,
        homepage,
        shortDescription: "Private connectivity for control planes on Azure",
        description:
          "Installs and checks Postern, shows what its clusters have in Azure, and what it would change.\n",
        caveats: "It needs Node 24 or newer on the PATH.\n",
        platforms: [
          {
            selector: {
              matchExpressions: [{ key: "os", operator: "In", values: ["darwin", "linux"] }],
            },
            uri,
            sha256,
            bin: pluginProgram,
          },
        ],
      },
    },
    { lineWidth: 0 },
  );
}

/** The program within the archive. Node finds its modules from there through krew's symbolic link. */
export const pluginProgram = "node_modules/postern/bin/postern.js";
