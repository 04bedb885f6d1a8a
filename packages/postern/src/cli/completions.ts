import { UsageError } from "@postern/core/process/usage-error.ts";
import type { Command } from "commander";

/** The programs, as far as their words go. */
export type Programs = Record<
  string,
  { summary: string; load(): Promise<{ command(): Command } | object> }
>;

/** What can be typed after some words, with what each means. */
export interface Words {
  /** `postern`, or `postern agent`. */
  after: string;
  words: { word: string; about: string }[];
}

/** Every place at which something can be completed. All programs are loaded for it, once, when the script is made. */
export async function wordsOf(programs: Programs): Promise<Words[]> {
  const first = Object.entries(programs).map(([word, { summary }]) => ({ word, about: summary }));
  const all: Words[] = [{ after: "postern", words: first }];
  for (const [name, { load }] of Object.entries(programs)) {
    const loaded = await load().catch(withoutWords);
    const after = `postern ${name}`;
    // A program that reads its own arguments is asked for them by its help.
    all.push(
      ...("command" in loaded ? wordsIn(after, loaded.command()) : [{ after, words: [help] }]),
    );
  }
  return all;
}

/** A program whose package is not installed is offered all the same: it says how to install it. */
function withoutWords(error: unknown): object {
  if (error instanceof UsageError) return {};
  throw error;
}

const help = { word: "--help", about: "print help" };

function wordsIn(after: string, command: Command): Words[] {
  const options = command.options.flatMap(({ long, description }) =>
    long ? [{ word: long, about: description }] : [],
  );
  const below = command.commands.map((each) => ({ word: each.name(), about: each.description() }));
  return [
    { after, words: [...below, ...options, help] },
    ...command.commands.flatMap((each) => wordsIn(`${after} ${each.name()}`, each)),
  ];
}

/** The scripts: each asks which words were typed, and offers those that may follow. */
export const scripts = { bash, zsh, fish };

function bash(all: readonly Words[]): string {
  const cases = all.map(
    ({ after, words }) =>
      `    ${quoted(after)}) words="${words.map(({ word }) => word).join(" ")}" ;;`,
  );
  return `# bash completion of postern
_postern() {
  local typed="postern" words="" at word
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in -*) ;; *) typed="$typed $word" ;; esac
  done
  while [ -z "$words" ] && [ -n "$typed" ]; do
    case "$typed" in
${cases.join("\n")}
    esac
    case "$typed" in *" "*) typed="\${typed% *}" ;; *) break ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _postern postern kubectl-postern`;
}

function zsh(all: readonly Words[]): string {
  const cases = all.map(
    ({ after, words }) =>
      `    ${quoted(after)}) offered=(${words.map(({ word, about }) => quoted(`${word}:${plain(about)}`)).join(" ")}) ;;`,
  );
  return `#compdef postern kubectl-postern
_postern() {
  local typed="postern" word
  local -a before=("\${(@)words[2,CURRENT-1]}") offered
  for word in "\${before[@]}"; do
    case "$word" in -*) ;; *) typed="$typed $word" ;; esac
  done
  while (( ! \${#offered} )); do
    case "$typed" in
${cases.join("\n")}
    esac
    [[ "$typed" == *" "* ]] || break
    typed="\${typed% *}"
  done
  _describe postern offered
}
compdef _postern postern kubectl-postern
# In a folder of fpath this file is the body of the function, and its first call is to complete already.
if [ "$funcstack[1]" = "_postern" ]; then _postern "$@"; fi`;
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ after, words }) => {
    const [, ...typed] = after.split(" ");
    const seen =
      typed.length === 0
        ? "__fish_use_subcommand"
        : typed.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    return words.map(({ word, about }) =>
      word.startsWith("--")
        ? `complete -c postern -n ${quoted(seen)} -l ${word.slice(2)} -d ${quoted(plain(about))}`
        : `complete -c postern -n ${quoted(seen)} -f -a ${word} -d ${quoted(plain(about))}`,
    );
  });
  return ["# fish completion of postern", "complete -c postern -f", ...lines].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function plain(text: string): string {
  return text.replaceAll(":", "").replaceAll("\n", " ");
}
