import { readFileSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { type LocalExtension, localExtension } from "postern/operator/local-extension.ts";
import { parse } from "yaml";

interface Entry {
  name?: string;
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: { cluster?: string };
}

/** A kubeconfig as far as it is looked at here. */
export interface Kubeconfig {
  "current-context"?: string;
  contexts?: Entry[];
  clusters?: Entry[];
  users?: Entry[];
}

const paths = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/** A kubeconfig of a person, with every path in it good from anywhere. */
export function readKubeconfig(file: string): Kubeconfig {
  const config = parse(readFileSync(file, "utf8"), { logLevel: "error" }) as Kubeconfig;
  const folder = dirname(resolve(file));
  for (const { cluster, user } of [...(config.clusters ?? []), ...(config.users ?? [])])
    for (const held of [cluster ?? {}, user ?? {}])
      for (const field of paths) {
        const path = held[field];
        if (typeof path === "string" && !isAbsolute(path)) held[field] = resolve(folder, path);
      }
  return config;
}

/** The text of a kubeconfig that leads to the cluster and to the Azure beside it: one variable is enough for both. */
export function kubeconfigBeside(config: Kubeconfig, beside: LocalExtension): string {
  const current = config.contexts?.find(({ name }) => name === config["current-context"]);
  const called = current?.context?.cluster;
  const clusters = config.clusters?.map((each) => {
    if (each.name !== called) return each;
    const extensions = [{ name: localExtension, extension: beside }];
    return { ...each, cluster: { ...each.cluster, extensions } };
  });
  // JSON is YAML too.
  return `${JSON.stringify({ ...config, clusters }, undefined, 2)}\n`;
}
