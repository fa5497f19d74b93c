import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { addAgentsApply } from "./commands/agents-apply.ts";
import { addAgentsExport } from "./commands/agents-export.ts";
import { addBackup } from "./commands/backup.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addFire } from "./commands/fire.ts";
import { addInvoke } from "./commands/invoke.ts";
import { addKeysCreate } from "./commands/keys-create.ts";
import { addRestore } from "./commands/restore.ts";
import { addRunsTail } from "./commands/runs-tail.ts";
import { exitCodeHelp, exitCodes } from "./exit-codes.ts";
import { reportFailure } from "./report-failure.ts";
import type { Terminal } from "./terminal.ts";

/** Runs one command of the command line. @returns the exit code */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.done;
  let printed = Promise.resolve();
  // Commander does not wait for the text of --help and --version that it prints.
  const print = (text: string) => {
    printed = terminal.out(text);
  };
  const program = createProgram(terminal, print, (code) => {
    exitCode = code;
  });
  try {
    try {
      await program.parseAsync(args, { from: "user" });
    } finally {
      await printed;
    }
    return exitCode;
  } catch (thrown) {
    return reportFailure(thrown, terminal, args.includes("--json"));
  }
}

function createProgram(
  terminal: Terminal,
  print: (text: string) => void,
  finish: (exitCode: number) => void,
): Command {
  // These settings are made before the subcommands are added, because commander copies the settings
  // of the program to each subcommand at the moment of its creation.
  const program = new Command("beckon")
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: terminal.err,
      outputError: (text, write) => write(text.replace(/^error: /, "beckon: ")),
    })
    .showHelpAfterError("Add --help to see what the command takes.")
    .version(`Beckon ${manifest.version}`, "--version", "print the version")
    .helpOption("-h, --help", "print what the command takes")
    .helpCommand(...helpCommand)
    .description("Hosts AI agents that any system can call, and calls them.")
    .addHelpText("after", environmentHelp + exitCodeHelp);
  program.command("start").summary("start the server, and PostgreSQL unless DATABASE_URL is set");
  addDoctor(program, terminal, finish);
  addInvoke(program, terminal, finish);
  addFire(program, terminal, finish);
  const group = (name: string, summary: string) =>
    program
      .command(name)
      .summary(summary)
      .helpCommand(...helpCommand);
  const runs = group("runs", "runs of agents");
  addRunsTail(runs, terminal, finish);
  const agents = group("agents", "agents as files");
  addAgentsExport(agents, terminal, finish);
  addAgentsApply(agents, terminal, finish);
  const keys = group("keys", "keys of the workspace");
  addKeysCreate(keys, terminal, finish);
  addBackup(program, terminal, finish);
  addRestore(program, terminal, finish);
  addCompletion(program, terminal, finish);
  return program;
}

/** Name, argument and summary of `help`. */
const helpCommand = ["help [command]", "print what a command takes"] as const;

const environmentHelp = `
Environment:
  BECKON_URL      Beckon's address, http://127.0.0.1:3000 if unset
  BECKON_KEY      a key of the workspace, or an agent's token
  BECKON_TRIGGER  URL or token of the trigger that \`beckon fire\` fires
  The settings of the server are environment variables too: beckon start --help`;
