import { Argument, type Command } from "commander";
import { completionScript, describe, type Shell, shells } from "../completion/index.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

/** Adds `beckon completion`. */
export function addCompletion(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  program
    .command("completion")
    .summary("print a script that completes commands in a shell")
    .description("Prints a completion script. Its first line says where to install it.")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .action(async (shell: Shell) => {
      await terminal.out(completionScript(shell, describe(program)));
      finish(exitCodes.done);
    });
}
