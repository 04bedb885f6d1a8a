import { UsageError } from "@postern/core/process/usage-error.ts";
import { Command } from "commander";
import type { Programs } from "./completions.ts";
import { print } from "./output.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** `postern completion`: what a shell needs to complete our commands. */
export function completion(programs: Programs): Command {
  return new Command("completion")
    .description("print the completion of a shell: programs, their subcommands and options")
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
        throw new UsageError(
          `there is no completion for '${shell}': there is one for ${shells.join(", ")}`,
        );
      const { wordsOf, scripts } = await import("./completions.ts");
      print(scripts[known](await wordsOf(programs)));
    });
}
