import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { send } from "../../../test/setup/request.ts";
import type { Stored } from "./resource.ts";
import { type Kubernetes, type KubernetesOptions, startKubernetes } from "./server.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(options: KubernetesOptions = {}) {
  const kubernetes = await startKubernetes(options);
  ends.push(kubernetes.stop);
  return kubernetes;
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "postern-kubernetes-"));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function ask<T = Stored>(
  to: Kubernetes,
  method: string,
  path: string,
  body?: unknown,
  token = to.token,
) {
  return send<T>(to, method, path, body, { token });
}

const configMaps = "/api/v1/namespaces/default/configmaps";

test("only loopback is listened on", async () => {
  await expect(startKubernetes({ host: "0.0.0.0" })).rejects.toThrow(
    /does not listen on 0\.0\.0\.0/,
  );
});

test("a port that is in use is reported", async () => {
  const { url } = await start();
  const port = Number(new URL(url).port);
  await expect(startKubernetes({ port })).rejects.toThrow(/another process listens there/);
});

test("whoever has no token is refused", async () => {
  const kubernetes = await start({ tokens: { alice: "wonderland" } });
  const as = (token: string) => ask(kubernetes, "GET", configMaps, undefined, token);
  expect((await as("nonsense")).status).toBe(401);
  expect((await as("wonderland")).status).toBe(200);
});

test("a service account's token is its own, and ends with it", async () => {
  const kubernetes = await start();
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await ask(kubernetes, "POST", accounts, { metadata: { name: "robot" } });
  const made = await ask<{ status: { token: string } }>(
    kubernetes,
    "POST",
    `${accounts}/robot/token`,
    { spec: {} },
  );
  const { token } = made.body.status;
  const who = () =>
    ask<{ status: { userInfo: { username: string } } }>(
      kubernetes,
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {},
      token,
    );
  expect((await who()).body.status.userInfo.username).toBe("system:serviceaccount:default:robot");
  await ask(kubernetes, "DELETE", `${accounts}/robot`);
  expect((await who()).status).toBe(401);
});

test("what was written is there after a restart, and versions go on", async () => {
  const data = { file: join(folder(), "kubernetes.db") };
  const first = await start({ data });
  const made = await ask(first, "POST", configMaps, { metadata: { name: "a" }, data: { x: "1" } });
  await ask(first, "POST", configMaps, { metadata: { name: "b" } });
  const gone = await ask(first, "DELETE", `${configMaps}/b`);
  expect(gone.status).toBe(200);
  await first.stop();

  const second = await start({ data });
  expect(second.token).toBe(first.token);
  expect(second.ca).toBe(first.ca);
  expect((await ask(second, "GET", `${configMaps}/a`)).body).toEqual(made.body);
  const next = await ask(second, "POST", configMaps, { metadata: { name: "c" } });
  expect(Number(next.body.metadata.resourceVersion)).toBe(
    Number(made.body.metadata.resourceVersion) + 3,
  );
  const watch = await ask<{ type: string; object: { code: number } }>(
    second,
    "GET",
    `${configMaps}?watch=1&resourceVersion=${made.body.metadata.resourceVersion}`,
  );
  expect(watch.body).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
});

test("a file that cannot be read is refused and left as it is", async () => {
  const file = join(folder(), "kubernetes.db");
  const text = "not a database, but long enough to look at".repeat(100);
  writeFileSync(file, text);
  await expect(startKubernetes({ data: { file } })).rejects.toThrow(/cannot be read.*--reset/);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a second one on the same file is refused", async () => {
  const file = join(folder(), "kubernetes.db");
  await start({ data: { file } });
  await expect(startKubernetes({ data: { file } })).rejects.toThrow(/is in use/);
});
