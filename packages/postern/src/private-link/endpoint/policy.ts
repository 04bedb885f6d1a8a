import type { ResourcePolicy } from "../policy.ts";
import type { EndpointDifference } from "./desired.ts";

/** How a source of private links names and reports its private endpoints. */
export interface EndpointPolicy extends ResourcePolicy<EndpointDifference> {
  deletionMessage(name: string, why: string): string;
}
