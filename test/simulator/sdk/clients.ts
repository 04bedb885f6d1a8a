import { AuthorizationManagementClient } from "@azure/arm-authorization";
import { ComputeManagementClient } from "@azure/arm-compute";
import { DnsManagementClient } from "@azure/arm-dns";
import { ManagedServiceIdentityClient } from "@azure/arm-msi";
import { NetworkManagementClient } from "@azure/arm-network";
import { PrivateDnsManagementClient } from "@azure/arm-privatedns";
import { ResourceManagementClient } from "@azure/arm-resources";
import { SubscriptionClient } from "@azure/arm-resources-subscriptions";
import type { TokenCredential } from "@azure/core-auth";
import type { Simulator, SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import { owner, subscription, tenant } from "../small-world.ts";
import { startChecked } from "../start.ts";
import { noteDriven } from "./driven.ts";

export const location = "westeurope";
export const rg = "rg";
/** What ids of resources in the group begin with. */
export const inGroup = `/subscriptions/${subscription}/resourceGroups/${rg}/providers`;
export const inNetwork = `${inGroup}/Microsoft.Network`;

/** Pollers ask again at once; an operation takes a few of their questions. */
export const soon = { updateIntervalInMs: 1 };

/** Microsoft's clients, each as its users have it but for where it asks. */
export class Clients {
  readonly #credential: TokenCredential;
  readonly #options: {
    endpoint: string;
    credentialScopes: string[];
    tlsOptions: { ca: string };
  };

  constructor(simulator: Simulator, credential: TokenCredential) {
    this.#credential = credential;
    this.#options = {
      endpoint: simulator.httpsUrl ?? "",
      credentialScopes: ["https://management.azure.com/.default"],
      tlsOptions: { ca: simulator.ca ?? "" },
    };
  }

  get network(): NetworkManagementClient {
    return new NetworkManagementClient(this.#credential, subscription, this.#options);
  }

  get compute(): ComputeManagementClient {
    return new ComputeManagementClient(this.#credential, subscription, this.#options);
  }

  get privateDns(): PrivateDnsManagementClient {
    return new PrivateDnsManagementClient(this.#credential, subscription, this.#options);
  }

  get dns(): DnsManagementClient {
    return new DnsManagementClient(this.#credential, subscription, this.#options);
  }

  get resources(): ResourceManagementClient {
    return new ResourceManagementClient(this.#credential, subscription, this.#options);
  }

  get subscriptions(): SubscriptionClient {
    return new SubscriptionClient(this.#credential, this.#options);
  }

  get authorization(): AuthorizationManagementClient {
    return new AuthorizationManagementClient(this.#credential, subscription, this.#options);
  }

  get identities(): ManagedServiceIdentityClient {
    return new ManagedServiceIdentityClient(this.#credential, subscription, this.#options);
  }
}

/** A simulator over TLS with a group in it, and the clients of its owner. */
export async function sdkWorld(
  options: SimulatorOptions = {},
): Promise<{ simulator: Simulator; clients: Clients }> {
  const simulator = await startChecked({
    https: true,
    // Pollers do as they are told by Retry-After, and take no notice of a zero.
    retryAfterSeconds: 0,
    operationMs: { "*": 2 },
    pageSize: 2,
    ...options,
    answered: noteDriven,
  });
  simulator.directory.addSubscription(subscription, tenant, "Payments");
  simulator.roles.makeOwner(owner);
  const clients = new Clients(simulator, tokenOf(simulator));
  await clients.resources.resourceGroups.createOrUpdate(rg, { location });
  return { simulator, clients };
}

/** Make the network `v` with the subnet `a`. */
export async function withNetwork({ network }: Clients): Promise<void> {
  await network.virtualNetworks.createOrUpdate(
    rg,
    "v",
    {
      location,
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [{ name: "a", addressPrefix: "10.0.0.0/24" }],
    },
    soon,
  );
}

/** The token of someone, as a credential. */
export function tokenOf(simulator: Simulator, principal = owner): TokenCredential {
  const token = simulator.directory.tokenFor(principal);
  return {
    getToken: () => Promise.resolve({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
  };
}

/** Headers that the clients have no option for. The older ones call them `customHeaders`. */
export function headers(given: Record<string, string>) {
  return { requestOptions: { headers: given } };
}

/** All that a list of pages holds. */
export async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of pages) found.push(each);
  return found;
}

/** The names in a list. */
export async function names(pages: AsyncIterable<{ name?: string }>): Promise<string[]> {
  return (await all(pages)).map(({ name = "" }) => name);
}
