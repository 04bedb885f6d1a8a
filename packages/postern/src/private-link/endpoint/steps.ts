import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { ResourceStep } from "../plan-resource.ts";

/** Everything that is done to a private endpoint. */
export type PrivateEndpointStep = ResourceStep<"endpoint", PrivateEndpoint>;
