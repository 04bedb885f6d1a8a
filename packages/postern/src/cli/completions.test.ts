import { spawnSync } from "node:child_process";
import { shellWord } from "@postern/core/shell.ts";
import { Command, Option } from "commander";
import { beforeAll, describe, expect, test } from "vitest";
import { offered as offeredNames } from "./complete.ts";
import { scripts, type Words, wordsOf } from "./completions.ts";

const command = () =>
  new Command("cluster")
    .option("--kubeconfig <file>", "kubeconfig to use: it's a file")
    .addCommand(new Command("create").description("make one").option("--base-domain <name>", "x"))
    .addCommand(
      new Command("destroy")
        .description("delete one")
        .argument("<name>", "cluster, as NAME or NAMESPACE/NAME")
        .option("-n, --namespace <name>", "x")
        .addOption(new Option("-o, --output <format>", "x").choices(["text", "json"])),
    );
const programs = {
  cluster: { summary: "clusters: all of them", load: async () => ({ command }) },
  tree: { summary: "it's a tree", load: async () => ({ command: () => new Command("tree") }) },
  agent: { summary: "reads its own arguments", load: async () => ({ program: async () => {} }) },
};
let words: Words[] = [];
beforeAll(async () => {
  words = await wordsOf(programs);
});

/** What bash offers after these words. */
function offered(...typed: string[]): string[] {
  return offeredOf(['"$2/one"', "one"], typed);
}

function offeredOf(names: readonly string[], typed: readonly string[]): string[] {
  // What asks the cluster is another program, which is tested with one.
  const script = `${scripts.bash(words)}
postern() { [ "$1" = __complete ] && printf '%s\\n' ${names.join(" ")}; }
COMP_WORDS=(${typed.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${typed.length - 1}
_postern; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", script], {
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").filter(Boolean);
}

describe("bash offers", () => {
  test.each([
    [
      ["postern", ""],
      ["cluster", "tree", "agent"],
    ],
    [["postern", "tr"], ["tree"]],
    [["postern", "cluster", "c"], ["create"]],
    [
      ["postern", "cluster", "create", "--"],
      ["--base-domain", "--help"],
    ],
    [["postern", "--context", "cluster", "d"], ["destroy"]],
    [["kubectl-postern", "tree", "--h"], ["--help"]],
    [["postern", "agent", ""], ["--help"]],
    [["postern", "nothing", "x"], []],
    [
      ["postern", "cluster", "destroy", ""],
      ["-n", "--namespace", "-o", "--output", "--help", "clusters/one", "one"],
    ],
    [["postern", "cluster", "destroy", "cl"], ["clusters/one"]],
    [
      ["postern", "cluster", "destroy", "-"],
      ["-n", "--namespace", "-o", "--output", "--help"],
    ],
    [
      ["postern", "cluster", "destroy", "-o", ""],
      ["text", "json"],
    ],
    [["postern", "cluster", "destroy", "one", "--output", "j"], ["json"]],
    [["postern", "cluster", "destroy", "-n", "n"], ["namespaces/one"]],
  ])("after %j what may follow", (typed, wanted) => {
    expect(offered(...typed)).toEqual(wanted);
  });
});

const hostile = ["$(echo ran >&2)", "`echo ran >&2`", "a;b", "*", "-x", "a\nb c", "", "A"];

test.each([["destroy"], ["destroy", "-n"]])(
  "attack: the API server chooses a name that is a command, and bash does not run it at Tab after %j",
  (...after) => {
    const names = [...hostile.slice(0, 4), "one"];
    const typed = ["postern", "cluster", ...after, ""];
    expect(offeredOf(names.map(shellWord), typed)).toEqual(expect.arrayContaining(names));
  },
);

test("attack: names that mean something to a shell are not offered, by any shell", () => {
  expect(offeredNames([...hostile, "ns/one", "one", "one", "a.b-1"])).toEqual([
    "a.b-1",
    "ns/one",
    "one",
  ]);
});

test.each(["zsh", "fish"] as const)("%s can read its script, where it is installed", (shell) => {
  const text = scripts[shell](words);
  const { error, status, stderr } = spawnSync(shell, ["-n"], { input: text, encoding: "utf8" });
  if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  // Quotes are what goes wrong: without what is quoted, none is left.
  const bare = text.replace(/"[^"\n]*"/g, "").replace(/'(?:[^'\n]|'\\'')*'/g, "");
  expect(bare).not.toContain("'");
  expect(text).toContain("postern");
});

test("zsh completes at the first call, where the script is the body of the function", () => {
  expect(scripts.zsh(words).trimEnd().split("\n").at(-1)).toBe(
    'if [ "$funcstack[1]" = "_postern" ]; then _postern "$@"; fi',
  );
});

test("fish offers subcommands after their program, and options after theirs", () => {
  const lines = scripts.fish(words).split("\n");
  expect(lines).toContain(
    "complete -c postern -n '__fish_seen_subcommand_from cluster; and __fish_seen_subcommand_from create' -l base-domain -d 'x'",
  );
  const destroy =
    "complete -c postern -n '__fish_seen_subcommand_from cluster; and __fish_seen_subcommand_from destroy'";
  expect(lines).toContain(`${destroy} -l output -s o -x -a 'text json' -d 'x'`);
  expect(lines).toContain(
    `${destroy} -l namespace -s n -x -a '(postern __complete namespaces 2>/dev/null)' -d 'x'`,
  );
  expect(lines).toContain(
    `${destroy} -f -a '(postern __complete clusters 2>/dev/null)' -d 'cluster'`,
  );
  expect(lines).toContain(
    "complete -c postern -n '__fish_use_subcommand' -f -a tree -d 'it'\\''s a tree'",
  );
});
