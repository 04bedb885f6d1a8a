import type { ServerResponse } from "node:http";
import { Arm, type ArmClient, type ArmOptions, type ArmRequest } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { AzureError } from "postern/azure/errors.ts";
import type { Caller } from "postern/azure/exchange.ts";
import { staticToken } from "postern/azure/tokens.ts";
import { onTestFinished } from "vitest";
import { json, type ReceivedRequest, serve } from "../loopback.ts";
import { HurriedClock } from "./hurried-clock.ts";

/** A caller that may do everything. */
export function caller(over: Partial<Caller> = {}): Caller {
  const { signal } = new AbortController();
  return { priority: "change", signal, mayWrite: () => true, ...over };
}

/** A Resource Manager on loopback with the given answers, and an ARM client for it. */
export async function fakeArm(
  answer: (request: ReceivedRequest, response: ServerResponse) => void,
  over: Partial<ArmOptions> & { caller?: Partial<Caller> } = {},
): Promise<{
  arm: ArmClient;
  client: Arm;
  requests: ReceivedRequest[];
  reported: ArmRequest[];
  url: string;
  clock: HurriedClock;
}> {
  const { url, requests } = await serve(answer);
  const clock = new HurriedClock();
  const reported: ArmRequest[] = [];
  const client = new Arm({
    cloud: customCloud({ resourceManager: url }),
    credential: staticToken("token-1"),
    clock,
    onRequest: (request) => reported.push(request),
    ...over,
  });
  onTestFinished(() => client.close());
  return { arm: client.for(caller(over.caller)), client, requests, reported, url, clock };
}

/** An answer in ARM's form that refuses. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  json(response, status, { error: { code, message: `about ${code}` } }, headers);
}

/** The error that a promise ends with; anything else fails the test. */
export async function failure(promise: Promise<unknown>): Promise<AzureError> {
  const ended = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in ended && ended.error instanceof AzureError) return ended.error;
  throw new Error(`no AzureError, but ${JSON.stringify(ended)}`);
}

/** A subscription and a link service to ask for. */
export const subscription = "/subscriptions/00000000-0000-0000-0000-000000000001";
export const group = `${subscription}/resourceGroups/rg`;
export const linkId = `${group}/providers/Microsoft.Network/privateLinkServices/api`;
