import type { Message, ResourcePolicy } from "../policy.ts";
import type { LinkServiceDifference } from "./desired.ts";
import type { ForeignEndpoints } from "./disconnect.ts";

/** How a source of private links names and reports its link services, and what their deletion may disturb. */
export interface LinkServicePolicy extends ResourcePolicy<LinkServiceDifference> {
  messages: ResourcePolicy["messages"] & { adopt: Message };
  deletion: {
    policy: ForeignEndpoints;
    isOwn(endpoint: string): boolean;
    /** How long to wait for the side of our own endpoint; 0 where it has nothing to do or had its time. */
    tenantMs: number;
    /** How often to look meanwhile, at least. */
    longestWaitMs?: number;
    /** The reason and message where endpoints of others are connected and must not be disconnected. */
    refused: string;
    refusal(name: string, connected: readonly string[]): string;
    message(name: string, why: string): string;
    waitingMessage?(name: string): string;
  };
}
