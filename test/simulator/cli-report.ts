import type { Replayed } from "./cli-conformance.ts";
import { cliMismatches } from "./known-mismatches.ts";

/** How many of the supported requests of an area were answered as recorded. */
interface Row {
  area: string;
  requests: number;
  supported: number;
  status: number;
  headers: number;
  body: number;
}

const fields = ["status", "headers", "body"] as const;

/** The counts of every area, and of all together. */
export function rowsOf(replayed: readonly Replayed[]): Row[] {
  const areas = [...new Set(replayed.map(({ area }) => area))].sort();
  const count = (area: string, of: readonly Replayed[]): Row => {
    const supported = of.filter((each) => each.supported);
    const same = (field: (typeof fields)[number]) =>
      supported.filter((each) => each[field] === undefined).length;
    return {
      area,
      requests: of.length,
      supported: supported.length,
      status: same("status"),
      headers: same("headers"),
      body: same("body"),
    };
  };
  const rows = areas.map((area) =>
    count(
      area,
      replayed.filter((each) => each.area === area),
    ),
  );
  return [...rows, count("all", replayed)];
}

/** A table by area. */
export function tableOf(replayed: readonly Replayed[]): string {
  const lines = rowsOf(replayed).map(({ area, requests, supported, ...same }) => {
    const parts = fields.map((field) => {
      const percent = supported === 0 ? "-" : `${((100 * same[field]) / supported).toFixed(1)} %`;
      return `${same[field]} ${percent}`.padStart(14);
    });
    return `${area.padEnd(40)}${String(requests).padStart(9)}${String(supported).padStart(10)}${parts.join("")}`;
  });
  const head = `${"Azure CLI, by area".padEnd(40)} requests supported${fields.map((each) => each.padStart(14)).join("")}`;
  return [head, ...lines].join("\n");
}

/** The supported requests that were answered differently, each with its reason where that is known. */
export function unexplained(
  replayed: readonly Replayed[],
): (Replayed & { reason: string | undefined })[] {
  return replayed
    .filter((each) => each.supported && fields.some((field) => each[field] !== undefined))
    .map((each) => {
      const text = `${each.recording} ${each.request} ${differencesOf(each).join(" ")}`;
      return { ...each, reason: cliMismatches.find(({ where }) => where.test(text))?.reason };
    });
}

/** What is different, with its reason, to be read by people. */
export function mismatchLines(replayed: readonly Replayed[]): string[] {
  return unexplained(replayed).map(
    (each) =>
      `${each.recording}#${each.at} ${each.request}\n  ${differencesOf(each).join("\n  ")}\n  reason: ${each.reason ?? "not known"}`,
  );
}

function differencesOf(each: Replayed): string[] {
  return fields.flatMap((field) =>
    each[field] === undefined ? [] : [`${field} ${each[field]?.slice(0, 300)}`],
  );
}
