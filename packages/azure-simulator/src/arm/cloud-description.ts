import type { IncomingMessage, ServerResponse } from "node:http";
import { baseOf } from "../entra/entra.ts";
import type { Pages } from "../server.ts";
import { checkApiVersion } from "./checks.ts";
import { Refusal } from "./refusal.ts";

/**
 * `/metadata/endpoints`: where the other parts of this cloud are, told to anyone. In the form that Azure gives it since
 * 2022-09-01, which is what Microsoft's and HashiCorp's clients ask for:
 * https://github.com/hashicorp/go-azure-sdk/blob/main/sdk/internal/metadata/client.go
 */
export const cloudDescription: Pages = {
  take(request, response) {
    const { url = "/", method = "GET" } = request;
    const [path = "", query = ""] = url.split("?", 2);
    if (method !== "GET" || !/^\/metadata\/endpoints\/?$/i.test(path)) return false;
    try {
      const version = checkApiVersion(new URLSearchParams(query));
      const cloud = describe(request);
      // Before 2022-09-01 it is a list of clouds: the Azure CLI asks for that of 2019-05-01.
      send(response, 200, version < "2022-09-01" ? [cloud] : cloud);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(response, error.status, error.body);
    }
    return true;
  },
};

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

/**
 * Everything has the address at which the asker reached us: whoever follows it must not come to Microsoft. Graph, storage
 * and vaults are not there, and answer nothing.
 */
function describe(request: IncomingMessage): unknown {
  const base = baseOf(request);
  const host = base.slice(base.indexOf("//") + 2);
  return {
    portal: base,
    authentication: {
      loginEndpoint: base,
      audiences: [`${base}/`, base],
      tenant: "common",
      identityProvider: "AAD",
    },
    graphAudience: `${base}/`,
    graph: `${base}/`,
    name: "AzureCloud",
    suffixes: { keyVaultDns: `vault.${host}`, storage: `storage.${host}` },
    resourceManager: `${base}/`,
    microsoftGraphResourceId: `${base}/`,
  };
}
