import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "@postern/azure-simulator/simulator.ts";
import { onTestFinished } from "vitest";
import { watchAnswers } from "./answers.ts";

/**
 * A simulator for one test: the test fails at its end where an answer has not the form that Azure's documents give it,
 * or where the simulator met an error of its own. It is closed then, if it is not yet.
 */
export async function startChecked(options: SimulatorOptions = {}): Promise<Simulator> {
  const answers = watchAnswers();
  const bugs: unknown[] = [];
  const simulator = await startSimulator({
    seed: "test",
    bug: (error) => bugs.push(error),
    ...options,
    answered: (sent) => {
      answers?.answered(sent);
      options.answered?.(sent);
    },
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= simulator.close();
    return closing;
  };
  onTestFinished(async () => {
    await close();
    if (bugs.length > 0) throw bugs[0];
    if (answers && answers.wrong.length > 0)
      throw new Error(`answers that are not as Azure documents them:\n${answers.wrong.join("\n")}`);
  });
  // Not a copy: some of its members are worked out each time they are read.
  return Object.create(simulator, { close: { value: close } }) as Simulator;
}
