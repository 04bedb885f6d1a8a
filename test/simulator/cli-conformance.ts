import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import type { Sent } from "@postern/azure-simulator/send.ts";
import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import {
  type CliInteraction,
  type CliRecording,
  isPoll,
  readCliRecordings,
  standing,
} from "./cli-recordings.ts";
import { bodyDifference } from "./compare.ts";
import { Learned } from "./learned.ts";

/** One recorded request as the simulator answered it. */
export interface Replayed {
  recording: string;
  /** Which of the recording's requests it is. */
  at: number;
  /** The part of Azure: the type without its provider. */
  area: string;
  request: string;
  /** Whether the simulator does this at all. */
  supported: boolean;
  /** What is different; undefined where it is the same. */
  status: string | undefined;
  headers: string | undefined;
  body: string | undefined;
}

// The recorder wrote every subscription and tenant as this one.
const zero = "00000000-0000-0000-0000-000000000000";

/** Replay the Azure CLI's recordings, each against a simulator of its own. Polls are left out: operations end at once. */
export async function replayCli(
  folder: string,
  answered?: (sent: Sent) => void,
): Promise<Replayed[]> {
  const all: Replayed[] = [];
  for (const recording of readCliRecordings(folder)) {
    const simulator = await startSimulator({
      seed: "conformance",
      limits: noLimits,
      ...(answered && { answered }),
    });
    try {
      all.push(...(await replay(recording, simulator)));
    } finally {
      await simulator.close();
    }
  }
  return all;
}

async function replay(recording: CliRecording, simulator: Simulator): Promise<Replayed[]> {
  const me = { tenant: zero, objectId: zero, appId: zero };
  simulator.directory.addSubscription(zero, zero);
  simulator.roles.makeOwner(me);
  const token = simulator.directory.tokenFor(me);
  for (const { id, body } of standing(recording)) {
    try {
      simulator.change(id, body);
    } catch {
      // Of a type that is not done: what reads it is not either.
    }
  }
  const learned = new Learned();
  const all: Replayed[] = [];
  for (const [at, interaction] of recording.interactions.entries()) {
    if (isPoll(interaction) || isFurtherPage(interaction)) continue;
    const got = await ask(interaction, learned, simulator.url, token);
    const wanted = { ...interaction, text: recordedBody(interaction) };
    learned.learn(wanted.text, got.text);
    learned.learn(JSON.stringify(interaction.answerHeaders), JSON.stringify(got.headers));
    const { status, text } = got;
    all.push({
      recording: recording.name,
      at,
      area: areaOf(interaction.path),
      request: `${interaction.method} ${shortPath(interaction.path)}`,
      supported: status !== 501,
      status:
        status === wanted.status
          ? undefined
          : `${status} and not ${wanted.status}: ${status < 400 ? "" : text.slice(0, 300)}`,
      headers: headerDifference(wanted.answerHeaders, got.headers),
      body: bodyDifference(
        drawn(interaction, comparable(interaction, wanted.text, recording)),
        drawn(interaction, comparable(interaction, text, recording)),
        simulator.url,
      ),
    });
  }
  return all;
}

/** Where Azure cuts a list into pages is its own affair. */
function isFurtherPage({ path }: CliInteraction): boolean {
  return /[?&](?:\$|%24)skiptoken=/i.test(path);
}

/**
 * A list without what only the recorded run could have: other resources of the subscription, links to further pages, and
 * the order of names that the recorder made alike.
 */
function comparable({ path }: CliInteraction, text: string, recording: CliRecording): string {
  if (!text.startsWith('{"value":[')) return text;
  const { value } = JSON.parse(text.replaceAll("\\/", "/")) as { value: { id?: string }[] };
  const groups = recording.groups;
  const own = value.filter(({ id = "" }) => {
    const group = /\/resourcegroups\/([^/]+)/i.exec(id)?.[1]?.toLowerCase();
    return group === undefined || groups.has(group);
  });
  const madeAlike = own.some(({ id = "" }) => /0000\d\d$/.test(id));
  const sorted = madeAlike ? own.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)) : own;
  return JSON.stringify({ value: path.includes("/resources?") ? [] : sorted });
}

/** Whether the write of a load balancer takes time is a draw, in Azure as here: both answers are right. */
function drawn({ method, path }: CliInteraction, text: string): string {
  if (method !== "PUT" || !/\/loadBalancers\/[^/?]+\?/i.test(path)) return text;
  return text.replace(/("provisioningState":")(?:Updating|Succeeded)"/g, '$1DRAWN"');
}

async function ask(
  { method, path, headers, body }: CliInteraction,
  learned: Learned,
  base: string,
  token: string,
): Promise<{ status: number; headers: Record<string, string>; text: string }> {
  const sent: Record<string, string> = { authorization: `Bearer ${token}` };
  for (const [name, value] of Object.entries(headers))
    if (/^if-(none-)?match$/i.test(name)) sent[name] = learned.translate(value);
  if (body !== null) sent["content-type"] = "application/json";
  const response = await fetch(base + learned.translate(path), {
    method,
    headers: sent,
    redirect: "manual",
    ...(body !== null && { body: learned.translate(JSON.stringify(body)) }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

/** The recorder gave deployments one name in paths, and left them their own in answers. */
function recordedBody({ path, answer }: CliInteraction): string {
  if (answer === null || answer === undefined) return "";
  const text = JSON.stringify(answer);
  const name = /\/deployments\/([^/?]+)/.exec(path)?.[1];
  const own = name && /\/deployments\/([^/"]+)"/.exec(text)?.[1];
  return own && name ? text.replaceAll(own, name) : text;
}

/** The headers that lead a client on are either in both answers or in none. */
function headerDifference(
  wanted: Readonly<Record<string, string>>,
  got: Readonly<Record<string, string>>,
): string | undefined {
  for (const name of ["azure-asyncoperation", "location", "etag"])
    if ((wanted[name] === undefined) !== (got[name] === undefined))
      return `${name} is ${got[name] === undefined ? "absent" : "there"}`;
  return undefined;
}

function areaOf(path: string): string {
  const plain = (path.split("?")[0] ?? "").toLowerCase();
  const [, after] = plain.split(/\/providers\/microsoft\./, 2);
  if (after === undefined) return plain.split("/").at(plain.endsWith("s") ? -1 : -2) ?? "";
  return after.split("/")[1] ?? "";
}

function shortPath(path: string): string {
  return (path.split("?")[0] ?? "").split("/").slice(5).join("/") || path.slice(0, 80);
}
