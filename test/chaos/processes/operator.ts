import { fastClock } from "@postern/local/fast-clock.ts";
import { type OperatorSettings, runOperator } from "postern/operator/operator.ts";

/** What a storm gives the process of an operator. */
export interface GivenOperator {
  settings: OperatorSettings;
  speed: number;
}

const { settings, speed } = JSON.parse(process.argv[2] ?? "") as GivenOperator;
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("asked to stop")));
await runOperator(settings, stop.signal, process.env, fastClock(speed));
