import type { Described } from "./describe.ts";

/** Shells for which there is a completion script. */
export const shells = ["bash", "zsh", "fish"] as const;
/** A shell with a completion script. */
export type Shell = (typeof shells)[number];

/**
 * Returns the completion script of a shell. The script contains the names of all commands and
 * options, so it completes words without calling `beckon`.
 */
export function completionScript(shell: Shell, commands: readonly Described[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

const words = ({ subcommands, options, argumentChoices }: Described) => [
  ...subcommands.map(({ name }) => name),
  ...argumentChoices,
  ...options.map(({ name }) => `--${name}`),
];

const valueOptions = (commands: readonly Described[]) => {
  const options = commands.flatMap((command) => command.options);
  const names = (chosen: typeof options) => [...new Set(chosen.map(({ name }) => `--${name}`))];
  return {
    file: names(options.filter(({ takesFile }) => takesFile)),
    other: names(
      options.filter((each) => each.takesValue && !each.takesFile && each.choices.length === 0),
    ),
    choices: options.filter(({ choices }) => choices.length > 0),
  };
};

/** Returns a branch of a `case` in one line; no line if there are no patterns. */
function branch(patterns: readonly string[], action: string): string[] {
  return patterns.length === 0 ? [] : [`    ${patterns.join("|")}) ${action} ;;`];
}

function bash(commands: readonly Described[]): string {
  const { file, other, choices } = valueOptions(commands);
  const cases = commands.map(
    (command) =>
      `    "${command.path.join(" ")}") words="${words(command).join(" ")}"; files=${command.takesFile ? 1 : 0} ;;`,
  );
  const chosen = choices.map(
    ({ name, choices: values }) =>
      `    --${name}) COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$current")); return ;;`,
  );
  return `# bash completion of beckon. Install: beckon completion bash > ~/.local/share/bash-completion/completions/beckon
_beckon() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local path="" words="" files=0 index word
  COMPREPLY=()
  case $previous in
${branch(file, "_beckon_files; return").join("\n")}
${[...branch(other, "return"), ...chosen].join("\n")}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$path $word" in
      ${pathPatterns(commands)}) path="\${path:+$path }$word" ;;
    esac
  done
  case $path in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if ((files)); then _beckon_files; fi
}
# The option quotes spaces, and adds "/" to folders. It is not set for other words, because it would
# add "/" to a command if there is a folder of its name.
_beckon_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY+=($(compgen -f -- "$current"))
}
complete -F _beckon beckon
`;
}

/**
 * Returns the patterns of a `case` over "$path $word", one for each command. `$path` has the words
 * before the command's last word, and `$word` is the last one.
 */
function pathPatterns(commands: readonly Described[]): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `"${path.slice(0, -1).join(" ")} ${path.at(-1)}"`)
    .join("|");
}

/**
 * Removes single quotes, so that the text can be in single quotes in zsh and fish. The descriptions
 * have no backslashes, which fish would interpret.
 */
const quoted = (text: string) => text.replaceAll("'", "");

function zsh(commands: readonly Described[]): string {
  const { file, other, choices } = valueOptions(commands);
  const item = (name: string, summary: string) =>
    `'${name.replaceAll(":", "\\:")}:${quoted(summary).replaceAll(":", "\\:")}'`;
  const cases = commands.map((command) => {
    const items = [
      ...command.subcommands.map(({ name, summary }) => item(name, summary)),
      ...command.argumentChoices.map((name) => item(name, "")),
      ...command.options.map(({ name, summary }) => item(`--${name}`, summary)),
    ];
    return `    '${command.path.join(" ")}') items=(${items.join(" ")}); files=${command.takesFile ? 1 : 0} ;;`;
  });
  const chosen = choices.map(
    ({ name, choices: values }) => `    --${name}) compadd -- ${values.join(" ")}; return ;;`,
  );
  return `#compdef beckon
# zsh completion of beckon. Install: beckon completion zsh > a file _beckon in a folder of $fpath
_beckon() {
  local current_path="" word index files=0
  local -a items
  case \${words[CURRENT-1]} in
${branch(file, "_files; return").join("\n")}
${[...branch(other, "return"), ...chosen].join("\n")}
  esac
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case "$current_path $word" in
      ${pathPatterns(commands)}) current_path="\${current_path:+$current_path }$word" ;;
    esac
  done
  case $current_path in
${cases.join("\n")}
  esac
  _describe 'beckon' items
  if ((files)); then _files; fi
}
if [ "$funcstack[1]" = "_beckon" ]; then _beckon "$@"; else compdef _beckon beckon; fi
`;
}

function fish(commands: readonly Described[]): string {
  const lines = commands.flatMap((command) => {
    const condition = `-n '__beckon_at "${command.path.join(" ")}"'`;
    const summary = (text: string) => (text === "" ? "" : ` -d '${quoted(text)}'`);
    return [
      ...command.subcommands.map(
        ({ name, summary: text }) =>
          `complete -c beckon ${condition} -f -a ${name}${summary(text)}`,
      ),
      ...command.argumentChoices.map((name) => `complete -c beckon ${condition} -f -a ${name}`),
      ...(command.takesFile ? [`complete -c beckon ${condition} -F`] : []),
      ...command.options.map(({ name, summary: text, takesValue, takesFile, choices }) => {
        const value = takesFile ? " -r -F" : takesValue ? " -x" : "";
        const values = choices.length === 0 ? "" : ` -a '${choices.join(" ")}'`;
        return `complete -c beckon ${condition} -l ${name}${value}${values}${summary(text)}`;
      }),
    ];
  });
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => path.join(" "));
  return `# fish completion of beckon. Install: beckon completion fish > ~/.config/fish/completions/beckon.fish
function __beckon_at
    set -l path
    for word in (commandline -opc)[2..]
        set -l next (string trim "$path $word")
        if contains -- "$next" ${paths.map((path) => `"${path}"`).join(" ")}
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end
complete -c beckon -f
${lines.join("\n")}
`;
}
