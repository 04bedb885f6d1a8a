import { request } from "node:https";
import type { Cluster } from "../../setup/cluster.ts";

/** An answer in columns. */
export interface Table {
  columnDefinitions: { name: string }[];
  rows: { cells: unknown[] }[];
}

/** What `kubectl get` asks for. */
export function asTable(cluster: Cluster, path: string): Promise<Table> {
  const headers = {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    authorization: `Bearer ${cluster.tokens.admin}`,
  };
  return new Promise((resolve, reject) => {
    request(new URL(path, cluster.url), { headers, ca: cluster.ca }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => resolve(JSON.parse(text)));
    })
      .on("error", reject)
      .end();
  });
}
