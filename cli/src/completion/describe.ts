import type { Command } from "commander";

/** A command as a completion script needs it. */
export interface Described {
  /** The words after `beckon`, for example `["runs", "tail"]`; empty for `beckon` itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly {
    /** The long name without the leading dashes, for example `key-file`. */
    readonly name: string;
    readonly summary: string;
    readonly takesValue: boolean;
    readonly takesFile: boolean;
    readonly choices: readonly string[];
  }[];
  /** Values of the first argument; empty if it can have any value. */
  readonly argumentChoices: readonly string[];
  /** Whether the first argument is a file or a folder. */
  readonly takesFile: boolean;
}

/** Describes a command and all commands below it. */
export function describe(command: Command, path: readonly string[] = []): Described[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const own: Described = {
    path,
    summary: command.summary(),
    subcommands: subcommands.map((each) => ({ name: each.name(), summary: each.summary() })),
    options: help.visibleOptions(command).map((option) => ({
      name: (option.long ?? "").replace(/^--/, ""),
      summary: option.description,
      takesValue: option.required,
      takesFile: option.flags.includes("<file>"),
      choices: option.argChoices ?? [],
    })),
    argumentChoices: command.registeredArguments[0]?.argChoices ?? [],
    takesFile: ["file", "folder"].includes(command.registeredArguments[0]?.name() ?? ""),
  };
  return [own, ...subcommands.flatMap((each) => describe(each, [...path, each.name()]))];
}
