import { UsageError } from "@postern/core/process/usage-error.ts";
import type { Command, Option } from "commander";

/** The programs, as far as their words go. */
export type Programs = Record<
  string,
  { summary: string; load(): Promise<{ command(): Command } | object> }
>;

/** What can be typed after some words, with what each means. */
export interface Words {
  /** `postern`, or `postern agent`. */
  after: string;
  words: Word[];
  /** The names that the command takes as its argument: they are asked for when Tab is pressed. */
  names?: Names;
}

/** A subcommand, or an option with its values. */
export interface Word {
  word: string;
  about: string;
  /** The short form of an option. */
  short?: string;
  /** The values of an option: words, or names that are asked for. */
  values?: readonly string[] | Names;
}

/** What `postern __complete` lists. */
export type Names = "clusters" | "namespaces";

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
  const options = command.options.flatMap((option): Word[] => {
    const { long, short, description } = option;
    const values = valuesOf(option);
    return long
      ? [{ word: long, about: description, ...(short && { short }), ...(values && { values }) }]
      : [];
  });
  const below = command.commands.map((each) => ({ word: each.name(), about: each.description() }));
  const takesCluster = command.registeredArguments.some(({ description }) =>
    description.includes(clusterForm),
  );
  return [
    { after, words: [...below, ...options, help], ...(takesCluster && { names: "clusters" }) },
    ...command.commands.flatMap((each) => wordsIn(`${after} ${each.name()}`, each)),
  ];
}

/** How every command describes an argument that is a cluster. */
const clusterForm = "NAME or NAMESPACE/NAME";

function valuesOf({ argChoices, long, flags }: Option): Word["values"] {
  if (argChoices) return argChoices;
  return /^--(?:[a-z-]+-)?namespace$/.test(long ?? "") && flags.includes("<")
    ? "namespaces"
    : undefined;
}

/** The scripts: each asks which words were typed, and offers those that may follow. */
export const scripts = { bash, zsh, fish };

function bash(all: readonly Words[]): string {
  const cases = all.map(
    ({ after, words, names }) =>
      `    ${quoted(after)}) words="${words.flatMap(({ word, short }) => [...(short ? [short] : []), word]).join(" ")}"${names ? `; names=${names}` : ""} ;;`,
  );
  return `# bash completion of postern
# Reads words, one a line, and offers those that begin with $1. compgen -W would expand them, and so run what they contain.
_postern_offer() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    case "$word" in "") ;; "$1"*) COMPREPLY+=("$word") ;; esac
  done
}
_postern() {
  local typed="postern" words="" names="" values="" at word
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in -*) ;; *) typed="$typed $word" ;; esac
  done
  while [ -n "$typed" ]; do
    case "$typed $before" in
${valueCases(all, (value) => value, " ").join("\n")}
    esac
    if [ -n "$values$names" ]; then words="$values"; break; fi
    case "$typed" in
${cases.join("\n")}
    esac
    [ -z "$words" ] || break
    case "$typed" in *" "*) typed="\${typed% *}" ;; *) break ;; esac
  done
  case "$current" in -*) names="" ;; esac
  [ -z "$names" ] || names="$("\${COMP_WORDS[0]}" __complete "$names" 2>/dev/null)"
  _postern_offer "$current" < <(printf '%s\\n' $words "$names")
}
complete -F _postern postern kubectl-postern`;
}

/** The lines of a case statement by what was typed and the option before the cursor. */
function valueCases(
  all: readonly Words[],
  form: (value: string) => string,
  between: string,
): string[] {
  return all.flatMap(({ after, words }) =>
    words.flatMap(({ word, short, values }) => {
      if (values === undefined) return [];
      const typed = [word, ...(short ? [short] : [])].map((each) => quoted(`${after} ${each}`));
      const then =
        typeof values === "string"
          ? `names=${values}`
          : `values="${values.map(form).join(between)}"`;
      return [`    ${typed.join("|")}) ${then} ;;`];
    }),
  );
}

function zsh(all: readonly Words[]): string {
  const cases = all.map(
    ({ after, words, names }) =>
      `    ${quoted(after)}) offered=(${words
        .flatMap(({ word, about, short }) =>
          [...(short ? [short] : []), word].map((each) => quoted(`${each}:${plain(about)}`)),
        )
        .join(" ")})${names ? `; names=${names}` : ""} ;;`,
  );
  return `#compdef postern kubectl-postern
_postern() {
  local typed="postern" word names="" values="" last="\${words[CURRENT-1]}"
  local -a before=("\${(@)words[2,CURRENT-1]}") offered
  for word in "\${before[@]}"; do
    case "$word" in -*) ;; *) typed="$typed $word" ;; esac
  done
  while (( ! \${#offered} )); do
    case "$typed $last" in
${valueCases(all, (value) => value, " ").join("\n")}
    esac
    if [[ -n "$values$names" ]]; then
      [[ -z "$names" ]] || values="$(postern __complete "$names" 2>/dev/null)"
      compadd -- \${=values}
      return
    fi
    case "$typed" in
${cases.join("\n")}
    esac
    [[ "$typed" == *" "* ]] || break
    typed="\${typed% *}"
  done
  _describe postern offered
  [[ -z "$names" || "\${words[CURRENT]}" == -* ]] || compadd -- \${(f)"$(postern __complete "$names" 2>/dev/null)"}
}
compdef _postern postern kubectl-postern
# In a folder of fpath this file is the body of the function, and its first call is to complete already.
if [ "$funcstack[1]" = "_postern" ]; then _postern "$@"; fi`;
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ after, words, names }) => {
    const [, ...typed] = after.split(" ");
    const seen =
      typed.length === 0
        ? "__fish_use_subcommand"
        : typed.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const ask = (names: Names) => `(postern __complete ${names} 2>/dev/null)`;
    return [
      ...words.map(({ word, about, short, values }) => {
        const given =
          values === undefined
            ? ""
            : ` -x -a ${quoted(typeof values === "string" ? ask(values) : values.join(" "))}`;
        return word.startsWith("--")
          ? `complete -c postern -n ${quoted(seen)} -l ${word.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}${given} -d ${quoted(plain(about))}`
          : `complete -c postern -n ${quoted(seen)} -f -a ${word} -d ${quoted(plain(about))}`;
      }),
      ...(names
        ? [
            `complete -c postern -n ${quoted(seen)} -f -a ${quoted(ask(names))} -d ${quoted("cluster")}`,
          ]
        : []),
    ];
  });
  return ["# fish completion of postern", "complete -c postern -f", ...lines].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function plain(text: string): string {
  return text.replaceAll(":", "").replaceAll("\n", " ");
}
