import { packageVersion } from "@postern/core/process/package-version.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import type { Command } from "commander";

/** A program of Postern. It is loaded only when it is asked for, so that help and errors are instant. */
export interface Program {
  summary: string;
  /** Under which heading help shows it. */
  group: "Run" | "Look" | "Change" | "Other";
  /** Its command, of commander; or the program itself, where it reads its own arguments. */
  load(): Promise<{ command(): Command } | { program(args: string[]): Promise<void> }>;
}

/** Every program, by its name. */
export const programs: Record<string, Program> = {
  local: {
    group: "Run",
    summary: "run everything on this machine, without Azure and without a cluster",
    load: () => ifInstalled("@postern/local", () => import("@postern/local/command.ts")),
  },
  operator: {
    group: "Run",
    summary: "run the controllers against a Kubernetes cluster and Azure",
    load: () => import("./operator/command.ts"),
  },
  agent: {
    group: "Run",
    summary: "put an appliance behind a Gateway load balancer, and take it out",
    load: () => import("./agent/program.ts"),
  },
  simulator: {
    group: "Run",
    summary: "run an Azure of your own, for trying and testing",
    load: () =>
      ifInstalled(
        "@postern/azure-simulator",
        () => import("@postern/azure-simulator/command/command.ts"),
      ),
  },
  plan: {
    group: "Look",
    summary: "say what would change in Azure, and why",
    load: () => import("./cli/plan.ts"),
  },
  tree: {
    group: "Look",
    summary: "show each cluster with its link, endpoint and names",
    load: () => import("./cli/tree.ts"),
  },
  trace: {
    group: "Look",
    summary: "follow a host name to the machines behind it",
    load: () => import("./cli/trace.ts"),
  },
  doctor: {
    group: "Look",
    summary: "look for every known trap",
    load: () => import("./cli/doctor.ts"),
  },
  orphans: {
    group: "Look",
    summary: "find what belongs to no object any more, and delete it if asked to",
    load: () => import("./cli/orphans.ts"),
  },
  permissions: {
    group: "Look",
    summary: "print the least role of each identity",
    load: () => import("./cli/permissions.ts"),
  },
  dump: {
    group: "Look",
    summary: "gather everything for a bug report into one archive",
    load: () => import("./cli/dump.ts"),
  },
  approve: {
    group: "Change",
    summary: "let an endpoint of another subscription in",
    load: () => import("./cli/approve.ts"),
  },
  reject: {
    group: "Change",
    summary: "turn an endpoint away",
    load: () => import("./cli/reject.ts"),
  },
  adopt: {
    group: "Change",
    summary: "hand over to a cluster what others made for it",
    load: () => import("./cli/adopt.ts"),
  },
  cluster: {
    group: "Change",
    summary: "make, reach and destroy a hosted cluster",
    load: () => import("./cli/cluster.ts"),
  },
  install: {
    group: "Change",
    summary: "install the operator on a cluster, or print its manifests",
    load: () => import("./install/command.ts"),
  },
  upgrade: {
    group: "Change",
    summary: "upgrade an installation to this version, or change its settings",
    load: () => import("./install/upgrade.ts"),
  },
  uninstall: {
    group: "Change",
    summary: "remove an installation, after its clusters",
    load: () => import("./install/uninstall.ts"),
  },
  completion: {
    group: "Other",
    summary: "print the completion of a shell",
    load: async () => {
      const { completion } = await import("./cli/completion.ts");
      return { command: () => completion(programs) };
    },
  },
  version: {
    group: "Other",
    summary: "print the version",
    load: () => import("./cli/version.ts"),
  },
};

/** Load what production does without: it is in a package of its own, on which this one does not depend. */
async function ifInstalled<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
    throw new UsageError(
      `this program is in a package of its own: install it with npm install ${name}@${packageVersion()}`,
      { cause: error },
    );
  }
}
