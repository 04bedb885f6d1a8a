import { expect, test } from "vitest";
import { readOptions } from "./read-options.ts";
import { subcommands } from "./subcommands.ts";

test("options are read under their names, and those that are not given are the usual ones", () => {
  const words = [
    "--pool",
    "inspect",
    "--health-listen=[::]:9",
    "--no-events",
    "--health-port-handover",
    "--imds",
    "http://i",
  ];
  expect(readOptions("run", words, {})).toEqual({
    pool: "inspect",
    healthListen: { host: "::", port: 9 },
    events: false,
    healthPortHandover: true,
    healthStart: 300,
    leaveWithin: 20,
    imds: new URL("http://i"),
    patience: 120,
    tunnel: "find",
    joinBy: "auto",
    output: "text",
    logLevel: "info",
  });
});

test("a subcommand knows only its own options", () => {
  expect(readOptions("status", ["--pool", "a"], {})).toEqual({
    pool: "a",
    patience: 120,
    output: "text",
    logLevel: "info",
  });
  expect(() => readOptions("status", ["--pool", "a", "--tunnel", "none"], {})).toThrow(
    "unknown option '--tunnel' (see postern agent status --help)",
  );
});

test("the pool may stand in the environment, and the command line goes before it", () => {
  const env = { POSTERN_POOL: "from-env" };
  expect(readOptions("status", [], env)).toMatchObject({ pool: "from-env" });
  expect(readOptions("status", ["--pool", "given"], env)).toMatchObject({ pool: "given" });
});

test.each(Object.keys(subcommands) as (keyof typeof subcommands)[])(
  "help is asked for wherever it stands in %s",
  (subcommand) => {
    expect(readOptions(subcommand, ["-h"], {})).toBe("help");
    expect(readOptions(subcommand, ["--pool", "a", "--help"], {})).toBe("help");
  },
);

test.each<[string[], string]>([
  [[], "required option '--pool <name>' not specified"],
  [["--pool"], "option '--pool <name>' argument missing"],
  [["--pol", "a"], "unknown option '--pol': did you mean '--pool'?"],
  [["-x"], "unknown option '-x'"],
  [["--pool", "a", "b"], "unexpected argument 'b'"],
  [["--pool", "a", "--no-health=1"], "option '--no-health' does not take an argument"],
  [
    ["--pool", "a", "--tunnel", "dig"],
    "option '--tunnel <way>' argument 'dig' is invalid. Allowed choices are find, configure, none",
  ],
  [
    ["--pool", "a", "--metrics-listen", ":99"],
    "option '--metrics-listen <host:port>' argument ':99' is invalid. use HOST:PORT, such as 0.0.0.0:8080 or [::]:8080",
  ],
  [
    ["--pool", "a", "--patience", "long"],
    "option '--patience <seconds>' argument 'long' is invalid. use a whole number of seconds, such as 120",
  ],
  [
    ["--pool", "a", "--imds", "file:///x"],
    "option '--imds <url>' argument 'file:///x' is invalid. use a URL, such as http://127.0.0.1:9000/healthz",
  ],
])("a mistake is reported with what would be right: %j", (args, message) => {
  expect(() => readOptions("run", args, {})).toThrow(`${message} (see postern agent run --help)`);
});
