import { test } from "vitest";
import { attacks, harmless } from "./attacks.ts";
import { startKubernetes } from "./kubernetes.ts";
import { run, told, violations } from "./law.ts";

test("measure", async () => {
  await import("@azure/identity");
  Math.random = () => 0.5;
  const kubernetes = await startKubernetes();
  const baseline = await run(kubernetes, []);
  console.log(baseline.times, baseline.tokens, baseline.reads);
  for (const [name, actions] of Object.entries({ ...harmless, ...attacks })) {
    const t0 = performance.now();
    const found = await run(kubernetes, actions);
    const wrong = violations(baseline, found);
    console.log(`\n### ${name} (${(performance.now() - t0).toFixed(0)} ms)\n${wrong.slice(0, 12).map((w) => w.slice(0, 330)).join("\n")}${wrong.length > 12 ? `\n… ${wrong.length}` : ""}`);
  }
  console.log(told(attacks["a forged annotation gets a subnet deleted that the operator did not create"]!));
  await kubernetes.close();
}, 120_000);
