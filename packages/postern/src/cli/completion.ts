import { print } from "@postern/core/process/output.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import type { Programs } from "./completions.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** `postern completion`: the script with which a shell completes commands. */
export function completion(programs: Programs): Command {
  return new Command("completion")
    .description("Print the completion script for a shell: commands, subcommands and options")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      `
Examples:
  $ source <(postern completion bash)
  $ postern completion zsh > "\${fpath[1]}/_postern"
  $ postern completion fish > ~/.config/fish/completions/postern.fish`,
    )
    .action(async (shell: string) => {
      const known = shells.find((each) => each === shell);
      if (known === undefined)
        throw new UsageError(`no completion for '${shell}': use one of ${shells.join(", ")}`);
      const { wordsOf, scripts } = await import("./completions.ts");
      print(scripts[known](await wordsOf(programs)));
    });
}
