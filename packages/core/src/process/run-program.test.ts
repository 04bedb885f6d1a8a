import { Command } from "commander";
import { expect, test, vi } from "vitest";
import { runProgram } from "./run-program.ts";

const long = "a sentence of an example that is much longer than forty columns of a terminal";

function program(): Command {
  return new Command()
    .description("what it does")
    .addCommand(
      new Command("create")
        .description("create one")
        .argument("<name>")
        .option("--count <n>")
        .addHelpText("after", `\nExample:\n  $ postern cluster create one   # ${long}`)
        .action(() => undefined),
    )
    .addCommand(new Command("destroy").description("delete one"));
}

/** What a program prints on a terminal of so many columns, and the message with which it fails. */
async function run(args: string[], columns?: number) {
  const printed: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  const { isTTY, columns: before } = process.stdout;
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      printed[stream] += String(text);
      return true;
    }),
  );
  Object.assign(process.stdout, { isTTY: columns !== undefined, columns });
  try {
    const error = await runProgram("postern cluster", program(), args).catch((e: Error) => e);
    return { ...printed, message: error?.message };
  } finally {
    Object.assign(process.stdout, { isTTY, columns: before });
    for (const each of spies) each.mockRestore();
  }
}

test("a group of commands without a subcommand prints its help, and succeeds", async () => {
  const { stdout, stderr, message } = await run([]);
  expect({ stderr, message }).toEqual({ stderr: "", message: undefined });
  expect(stdout).toMatch(/^Usage: postern cluster .*\n\nwhat it does\n/);
});

test.each([
  [["create"], "missing required argument 'name' (see postern cluster create --help)"],
  [
    ["create", "one", "--cuont", "3"],
    "unknown option '--cuont': did you mean '--count'? (see postern cluster create --help)",
  ],
  [["--nothing"], "unknown option '--nothing' (see postern cluster --help)"],
  [["crate"], "unknown command 'crate': did you mean 'create'? (see postern cluster --help)"],
])("the error of %j points to the help of the command that was typed", async (args, message) => {
  expect((await run(args)).message).toBe(message);
});

test("help fits the terminal, its examples too", async () => {
  const narrow = (await run(["create", "--help"], 40)).stdout;
  for (const line of narrow.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
  expect(narrow).toContain("  $ postern cluster create one");
  expect((await run(["create", "--help"])).stdout).toContain(long);
});
