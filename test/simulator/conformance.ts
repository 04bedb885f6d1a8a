// `npm run conformance`: sends every recorded request to the simulator and compares what it answers with what Azure did.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import type { Sent } from "@postern/azure-simulator/send.ts";
import { startSimulator } from "@postern/azure-simulator/simulator.ts";
import { replayCli } from "./cli-conformance.ts";
import { mismatchLines, tableOf, unexplained } from "./cli-report.ts";
import { type Answered, differences } from "./compare.ts";
import { knownMismatches } from "./known-mismatches.ts";
import { type Recorded, readRecordings } from "./recordings.ts";

/** An interaction that the simulator answers differently. */
export interface Mismatch {
  recording: string;
  id: number;
  request: string;
  differences: string[];
  /** Why that is so, where it is known and meant. */
  reason?: string;
}

export interface Conformance {
  recorded: number;
  matched: number;
  mismatches: Mismatch[];
}

// The recorder wrote every guid as this one, so one subscription and tenant serve all recordings.
const zero = "00000000-0000-0000-0000-000000000000";

/** Replay all recordings of a folder, each against a simulator of its own; `answered` is told of its answers. */
export async function replayAll(
  folder: string,
  answered?: (sent: Sent) => void,
): Promise<Conformance> {
  const result: Conformance = { recorded: 0, matched: 0, mismatches: [] };
  for (const recording of readRecordings(folder)) {
    const simulator = await startSimulator({
      seed: "conformance",
      limits: noLimits,
      ...(answered && { answered }),
    });
    try {
      const me = { tenant: zero, objectId: zero, appId: zero };
      simulator.directory.addSubscription(zero, zero);
      simulator.roles.makeOwner(me);
      await replay(recording, simulator.url, simulator.directory.tokenFor(me), result);
    } finally {
      await simulator.close();
    }
  }
  return result;
}

async function replay(
  recording: Recorded[],
  base: string,
  token: string,
  result: Conformance,
): Promise<void> {
  const polls: { status?: string; result?: string } = {};
  for (const recorded of recording) {
    const answer = await ask(recorded, pathOf(recorded, polls), base, token);
    const status = answer.headers["azure-asyncoperation"];
    const location = answer.headers.location;
    if (status !== undefined) polls.status = status.slice(base.length);
    if (location !== undefined) polls.result = location.slice(base.length);
    const different = differences(recorded.answer, answer, base);
    result.recorded++;
    if (different.length === 0) {
      result.matched++;
      continue;
    }
    const { recording: name, id, method, url } = recorded;
    const reason = knownMismatches[`${name}#${id}`];
    const request = `${method} ${url.split("?")[0]?.split("/").slice(5).join("/") || url}`;
    result.mismatches.push({
      recording: name,
      id,
      request,
      differences: different,
      ...(reason && { reason }),
    });
  }
}

/** Recorded polls name operations of Azure's; ours are asked where our own answers said. */
function pathOf({ url }: Recorded, polls: { status?: string; result?: string }): string {
  if (/\/(operations|privateDnsOperationStatuses)\//i.test(url)) return polls.status ?? url;
  if (/\/operationresults\//i.test(url)) return polls.result ?? url;
  return url;
}

async function ask(
  recorded: Recorded,
  path: string,
  base: string,
  token: string,
): Promise<Answered> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  for (const name of ["if-match", "if-none-match", "content-type"]) {
    const value = recorded.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const { method, body } = recorded;
  const response = await fetch(base + path, {
    method,
    headers,
    redirect: "manual",
    ...(body !== "" && { body }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { json: { type: "string" }, data: { type: "string" } } });
  const root = values.data ?? process.env.POSTERN_DATA ?? "../shared/data";
  const folders = { arm: `${root}/arm-recordings`, cli: `${root}/azure-cli-recordings` };
  for (const folder of Object.values(folders))
    if (!existsSync(folder)) {
      console.error(`there are no recordings in ${folder}: give --data FOLDER or set POSTERN_DATA`);
      process.exit(1);
    }
  const result = await replayAll(folders.arm);
  for (const { recording, id, request, differences: all, reason } of result.mismatches)
    console.log(
      `${recording}#${id} ${request}\n  ${all.join("\n  ")}\n  reason: ${reason ?? "not known"}`,
    );
  const replayed = await replayCli(folders.cli);
  for (const line of mismatchLines(replayed)) console.log(line);
  console.log(
    `\n${result.matched} of ${result.recorded} interactions of cloud-provider-azure match`,
  );
  console.log(tableOf(replayed));
  const json = JSON.stringify({ ...result, cli: replayed }, null, 2);
  if (values.json !== undefined) writeFileSync(values.json, `${json}\n`);
  const unknown = [...result.mismatches, ...unexplained(replayed)];
  if (unknown.some((each) => each.reason === undefined)) process.exitCode = 1;
}
