import type { Command } from "commander";
import type { Applied, Change } from "../apply/index.ts";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { readTextFile } from "../read-text.ts";
import { reportWarning } from "../report-failure.ts";
import { explainInterrupt, shown, type Terminal, toJson, UsageError } from "../terminal.ts";

interface Options extends ConnectionOptions {
  readonly dryRun?: true;
}

/** Maximum size of a file in bytes: 16 MiB, which takes ten seconds to parse. */
const maxFileBytes = 16 * 1024 * 1024;

/** Adds `beckon agents apply`. */
export function addAgentsApply(
  agents: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = agents
    .command("apply <file>")
    .summary("create or update agents from a file")
    .description(
      "Creates the agents of a file, or updates those that have the same name. Only fields that " +
        "the file names are changed. Agents and triggers that the file does not name stay as " +
        "they are. - is standard input.",
    )
    .option("--dry-run", "print what would be changed, and change nothing");
  withConnection(command).action(async (file: string, options: Options) => {
    // Imported dynamically, so that other commands do not load the contract with Zod, and YAML.
    const { apply, plan, readDocument } = await import("../apply/index.ts");
    const agentsInFile = readDocument(await readTextFile(file, maxFileBytes, terminal));
    if (agentsInFile.length === 0)
      throw new UsageError("The file has no agents. Nothing was changed.");
    const client = await connect(options, terminal);
    const changes = await plan(client, agentsInFile, terminal.stopped);
    const warn = (warning: string) => reportWarning(warning, terminal, options.json === true);
    const applied = options.dryRun
      ? changes.map(wouldBe)
      : apply(client, changes, warn, terminal.stopped);
    let outputError: unknown;
    const print = async () => {
      for await (const each of applied) {
        const text = options.json ? toJson(each) : toText(each);
        // The remaining changes are made even if nobody reads what was changed, for example after
        // `| head -1`.
        await terminal.out(`${shown(text, terminal)}\n`).catch((thrown) => {
          outputError ??= thrown;
        });
      }
    };
    await print().catch(explainInterrupt("Repeat the command to apply what is left."));
    if (outputError !== undefined) throw outputError;
    finish(exitCodes.done);
  });
}

/** What an `apply` would do for one agent. The id of a new agent is not known. */
interface Planned extends Pick<Applied, "name" | "action" | "fields"> {
  readonly id?: string;
  readonly dry_run: true;
}

function wouldBe(change: Change): Planned {
  if (change.action === "create") {
    const { name } = change.agent;
    return { name, action: "created", fields: [], dry_run: true };
  }
  const { name, id, action, fields } = change;
  return { name, id, action: action === "update" ? "updated" : "unchanged", fields, dry_run: true };
}

function toText(done: Applied | Planned): string {
  const { name, id, action, fields } = done;
  const what = "dry_run" in done && action !== "unchanged" ? `would be ${action}` : action;
  const changed = fields.length === 0 ? "" : `: ${fields.join(", ")}`;
  const secrets = "dry_run" in done ? [] : done.secrets_needed;
  const needed = secrets.length === 0 ? "" : `; set ${secrets.join(", ")}`;
  return `${name}${id === undefined ? "" : ` (${id})`} ${what}${changed}${needed}`;
}
