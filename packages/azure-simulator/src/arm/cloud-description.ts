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
      checkApiVersion(new URLSearchParams(query));
      send(response, 200, describe(request));
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

/** What is here has the address at which the asker reached us; what is not here has Azure's. */
function describe(request: IncomingMessage): unknown {
  const base = baseOf(request);
  return {
    portal: "https://portal.azure.com",
    authentication: {
      loginEndpoint: base,
      audiences: ["https://management.core.windows.net/", "https://management.azure.com/"],
      tenant: "common",
      identityProvider: "AAD",
    },
    graphAudience: "https://graph.windows.net/",
    graph: "https://graph.windows.net/",
    name: "AzureCloud",
    suffixes: { keyVaultDns: "vault.azure.net", storage: "core.windows.net" },
    resourceManager: `${base}/`,
    microsoftGraphResourceId: "https://graph.microsoft.com/",
  };
}
