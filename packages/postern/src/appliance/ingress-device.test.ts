import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withVariable, writeIngressDevice } from "./ingress-device.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "postern-ingress-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test("the device is written to a file, to an environment file and by a hook, and all is taken back", async () => {
  const [file, environmentFile, hooked] = ["device", "env", "hooked"].map((n) =>
    join(folder(), n),
  ) as [string, string, string];
  writeFileSync(environmentFile, "A=1\nINGRESS_DEVICE=old\nB=2\n");
  const hook = `printf '%s.' "$INGRESS_DEVICE" >> ${hooked}`;
  const revert = await writeIngressDevice({ file, environmentFile, hook }, "eth0");
  expect(readFileSync(file, "utf8")).toBe("eth0\n");
  expect(readFileSync(environmentFile, "utf8")).toBe("A=1\nINGRESS_DEVICE=eth0\nB=2\n");
  expect(readFileSync(hooked, "utf8")).toBe("eth0.");
  await revert();
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(environmentFile, "utf8")).toBe("A=1\nINGRESS_DEVICE=old\nB=2\n");
  expect(readFileSync(hooked, "utf8")).toBe("eth0..");
});

test("what others change in the environment file meanwhile stays, and nobody else may read it", async () => {
  const environmentFile = join(folder(), "env");
  writeFileSync(environmentFile, "TOKEN=secret\n", { mode: 0o600 });
  const revert = await writeIngressDevice({ environmentFile }, "eth0");
  expect(statSync(environmentFile).mode & 0o777).toBe(0o600);
  writeFileSync(environmentFile, "TOKEN=newer\nINGRESS_DEVICE=eth0\nMORE=1\n");
  await revert();
  expect(readFileSync(environmentFile, "utf8")).toBe("TOKEN=newer\nMORE=1\n");
});

test("what a killed agent left is taken back by the next", async () => {
  const [file, environmentFile] = ["device", "env"].map((n) => join(folder(), n)) as [
    string,
    string,
  ];
  await writeIngressDevice({ file, environmentFile }, "eth0");
  const revert = await writeIngressDevice({ file, environmentFile }, "eth0");
  await revert();
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(environmentFile, "utf8")).toBe("");
});

test("a hook that fails is reported with what it said, and the files are as they were", async () => {
  const file = join(folder(), "device");
  const write = writeIngressDevice({ file, hook: "echo no such firewall >&2; exit 3" }, "eth0");
  await expect(write).rejects.toThrow(/ended with 3: no such firewall \(IngressNotWritten\)/);
  expect(existsSync(file)).toBe(false);
});

test("a file that cannot be written is reported", async () => {
  const file = join(folder(), "none", "device");
  await expect(writeIngressDevice({ file }, "eth0")).rejects.toThrow(/ENOENT.*IngressNotWritten/);
});

test("a variable without a value is taken out", () => {
  expect(withVariable("A=1\nD=eth0\nB=2\n", "D", undefined)).toBe("A=1\nB=2\n");
});

test.each([
  ["", "D=eth0\n"],
  ["A=1", "A=1\nD=eth0\n"],
  ["D=\nA=1\n", "D=eth0\nA=1\n"],
  ["# D=x\nDD=1\n", "# D=x\nDD=1\nD=eth0\n"],
])("in %j the variable is set and all else stays", (text, expected) => {
  expect(withVariable(text, "D", "eth0")).toBe(expected);
});
