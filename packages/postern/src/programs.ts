import { packageVersion } from "@postern/core/process/package-version.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import type { Command } from "commander";

/** A program of Postern. It is loaded only when it runs, so that help and errors are instant. */
export interface Program {
  summary: string;
  /** Under which heading help shows it. */
  group: "Run" | "Inspect" | "Manage" | "Other";
  /** Its command, of commander; or the program itself, where it reads its own arguments. */
  load(): Promise<{ command(): Command } | { program(args: string[]): Promise<void> }>;
}

/** Every program, by its name. */
export const programs: Record<string, Program> = {
  local: {
    group: "Run",
    summary: "Run everything on this machine, without Azure and without a cluster",
    load: () => ifInstalled("@postern/local", () => import("@postern/local/command.ts")),
  },
  operator: {
    group: "Run",
    summary: "Run the controllers against a Kubernetes cluster and Azure",
    load: () => import("./operator/command.ts"),
  },
  agent: {
    group: "Run",
    summary: "Register an appliance with a Gateway load balancer, and deregister it on shutdown",
    load: () => import("./agent/program.ts"),
  },
  simulator: {
    group: "Run",
    summary: "Run a local Azure simulator, for trials and tests",
    load: () =>
      ifInstalled(
        "@postern/azure-simulator",
        () => import("@postern/azure-simulator/command/command.ts"),
      ),
  },
  plan: {
    group: "Inspect",
    summary: "Show what the operator would change in Azure, and why",
    load: () => import("./cli/plan.ts"),
  },
  tree: {
    group: "Inspect",
    summary: "Show each cluster with its Azure resources and DNS records",
    load: () => import("./cli/tree.ts"),
  },
  trace: {
    group: "Inspect",
    summary: "Trace a hostname to the machines behind it",
    load: () => import("./cli/trace.ts"),
  },
  doctor: {
    group: "Inspect",
    summary: "Check for common misconfigurations",
    load: () => import("./cli/doctor.ts"),
  },
  orphans: {
    group: "Inspect",
    summary:
      "Find Azure resources whose Kubernetes object no longer exists, and optionally delete them",
    load: () => import("./cli/orphans.ts"),
  },
  permissions: {
    group: "Inspect",
    summary: "Print the least-privilege Azure role of each identity",
    load: () => import("./cli/permissions.ts"),
  },
  dump: {
    group: "Inspect",
    summary: "Collect everything for a bug report in one archive",
    load: () => import("./cli/dump.ts"),
  },
  approve: {
    group: "Manage",
    summary: "Approve a private endpoint connection",
    load: () => import("./cli/approve.ts"),
  },
  reject: {
    group: "Manage",
    summary: "Reject a private endpoint connection",
    load: () => import("./cli/reject.ts"),
  },
  adopt: {
    group: "Manage",
    summary: "Make a cluster the owner of existing Azure resources",
    load: () => import("./cli/adopt.ts"),
  },
  cluster: {
    group: "Manage",
    summary: "Create, access and destroy hosted clusters",
    load: () => import("./cli/cluster.ts"),
  },
  install: {
    group: "Manage",
    summary: "Install the operator on a cluster, or print its manifests",
    load: () => import("./install/command.ts"),
  },
  upgrade: {
    group: "Manage",
    summary: "Upgrade an installation to this version, or change its settings",
    load: () => import("./install/upgrade.ts"),
  },
  uninstall: {
    group: "Manage",
    summary: "Remove an installation, after its clusters are deleted",
    load: () => import("./install/uninstall.ts"),
  },
  completion: {
    group: "Other",
    summary: "Print the completion script for a shell",
    load: async () => {
      const { completion } = await import("./cli/completion.ts");
      return { command: () => completion(programs) };
    },
  },
  version: {
    group: "Other",
    summary: "Print the version",
    load: () => import("./cli/version.ts"),
  },
};

/** Load a program that production does not need, from a package that this one does not depend on. */
async function ifInstalled<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    import.meta.resolve(`${name}/package.json`);
  } catch (cause) {
    throw new UsageError(
      `this program is in a separate package: install it with npm install ${name}@${packageVersion()}`,
      { cause },
    );
  }
  return load();
}
