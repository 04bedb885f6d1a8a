import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@postern/kubernetes-embedded/server.ts";
import { type ControlPlaneAddress, writeKubeconfig } from "./control-plane.ts";
import type { Plane } from "./plane.ts";
import { send } from "./request.ts";

/** Starts the embedded API with the users, the audit log and the kubeconfig that the real one has in tests. */
export async function startEmbedded(): Promise<Plane> {
  const folder = await mkdtemp(join(tmpdir(), "postern-embedded-"));
  const token = () => randomBytes(16).toString("hex");
  const tokens = { alice: token(), bob: token() };
  const auditLog = join(folder, "audit.log");
  const start = (port: number) =>
    startKubernetes({ port, data: { file: join(folder, "state") }, tokens, auditLog });
  let server = await start(0);
  const { url, ca, token: admin } = server;
  const { body } = await send<{ gitVersion: string }>({ url, ca }, "GET", "/version", undefined, {
    token: admin,
  });
  const address: ControlPlaneAddress = {
    version: body.gitVersion,
    embedded: true,
    url,
    ca,
    tokens: { admin, ...tokens },
    kubeconfig: await writeKubeconfig(folder, url, ca, admin),
    auditLog,
  };
  return {
    address,
    restart: async () => {
      await server.stop();
      server = await start(Number(new URL(url).port));
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
