import { realClock } from "@postern/core/clock.ts";
import { counted } from "@postern/core/counted.ts";
import { Interrupted } from "@postern/core/process/interrupted.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { showProgress } from "@postern/core/process/progress.ts";
import { Registry } from "@prometheus-io/client";
import type { Arm, ArmClient } from "../azure/arm.ts";
import { KubeClient } from "../kube/client.ts";
import { findConnection } from "../kube/credentials.ts";
import { silentLog } from "../kube/log.ts";
import { azureFromEnvironment, type OperatorAzure } from "../operator/azure.ts";
import { type LocalExtension, localExtension } from "../operator/local-extension.ts";

/** How a command finds the cluster; the environment names the Azure subscription. */
export interface ConnectOptions {
  kubeconfig?: string;
  context?: string;
}

/** A cluster and its Azure, as a command reaches them: with the credential of the person who runs it. */
export interface Session {
  kube: KubeClient;
  arm: Arm;
  azure: OperatorAzure;
  /** Azure for reading: nothing can be written through it. */
  reading: ArmClient;
  /** Azure for a command that writes. */
  writing: ArmClient;
  env: NodeJS.ProcessEnv;
  local: LocalExtension | undefined;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  close(): void;
}

/** Open a session, use it, and close it whatever happens. */
export async function withSession<T>(
  options: ConnectOptions,
  use: (session: Session) => Promise<T>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<T> {
  const session = await openSession(options, env);
  try {
    return await use(session);
  } catch (error) {
    // Whatever the wait was for ends with an error of its own: the person only asked to stop.
    session.signal.throwIfAborted();
    throw error;
  } finally {
    session.close();
  }
}

async function openSession(options: ConnectOptions, given: NodeJS.ProcessEnv): Promise<Session> {
  const connection = await findConnection(options, given);
  const local = connection.extensions?.[localExtension] as LocalExtension | undefined;
  const env = { ...given, ...local?.environment };
  const version = packageVersion();
  const kube = new KubeClient(connection, { userAgent: `postern/${version}` });
  const registry = new Registry();
  let answers = 0;
  const azure = azureFromEnvironment(env, {
    log: silentLog,
    registry,
    clock: realClock,
    version,
    onRequest: () => void answers++,
  });
  const stop = new AbortController();
  const end = () => stop.abort(new Interrupted());
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  // A wait for Azure's budget holds no process open by itself, and a command has nothing else that would.
  const alive = setInterval(() => undefined, 60_000);
  const endProgress = showProgress(() => askingAzure(answers, azure.arm));
  const caller = { priority: "change", signal: stop.signal, id: "command" } as const;
  return {
    kube,
    arm: azure.arm,
    azure,
    reading: azure.arm.for({ ...caller, mayWrite: () => false }),
    writing: azure.arm.for({ ...caller, mayWrite: () => true }),
    env,
    local,
    signal: stop.signal,
    close() {
      endProgress();
      clearInterval(alive);
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
      azure.close();
      kube.close();
    },
  };
}

/** How far a command is that sends many requests to Azure: most of its time it waits for the rate limit. */
function askingAzure(answers: number, { budgets }: Arm): string | undefined {
  const waiting = budgets
    .states()
    .flatMap(({ reads, writes, deletes }) => [reads, writes, deletes])
    .flatMap((bucket) => Object.values(bucket.waiting))
    .reduce((sum, each) => sum + each, 0);
  if (answers + waiting === 0) return undefined;
  return `Reading Azure: ${counted(answers, "response")}${waiting > 0 ? `, ${counted(waiting, "request")} waiting for the rate limit` : ""}`;
}
