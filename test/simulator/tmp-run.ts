import { replayCli } from "./cli-conformance.ts";

const all = await replayCli(process.env.DIR ?? "/work/shared/data/azure-cli-recordings");
const s = all.filter((e) => e.supported);
const ok = (f: "status" | "body" | "headers") => s.filter((e) => e[f] === undefined).length;
console.log(
  all.length,
  "supported",
  s.length,
  "status",
  ok("status"),
  "body",
  ok("body"),
  "headers",
  ok("headers"),
);
for (const e of s)
  if (e.status || e.body || e.headers)
    console.log(
      `${e.recording}#${e.at} ${e.request}\n   ${[e.status && `status ${e.status}`, e.headers, e.body && `body ${e.body}`].filter(Boolean).join("\n   ")}`,
    );
