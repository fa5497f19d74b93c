import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { shown, type Terminal, toJson, UsageError } from "../terminal.ts";
import { explainBackupError } from "./backup-failure.ts";

interface Options {
  readonly mark?: true;
  readonly masterKeyFile?: string;
  readonly json?: true;
}

const nextStart =
  "The next start ends runs that were in progress as interrupted, and sends no old delivery.\n";

/** Adds `beckon restore`. */
export function addRestore(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  program
    .command("restore [folder]")
    .summary("restore a backup into an empty data folder")
    .description(
      "Restores a backup into the data folder (BECKON_DATA_DIR), which must not contain an " +
        "installation, and marks it as restored: the next start ends runs that were in progress as " +
        "interrupted, and sends no old delivery. After a restore by other tools, of an external " +
        "PostgreSQL or of a copy of the data folder, set the mark with --mark.",
    )
    .option("--mark", "only mark what other tools have restored")
    .option("--master-key-file <file>", "copy the master key from this file into the data folder")
    .option("--json", "print JSON")
    .action(async (folder: string | undefined, { mark, masterKeyFile, json }: Options) => {
      if (mark === undefined && folder === undefined)
        throw new UsageError("There is no backup. Name its folder, or give --mark.");
      if (mark && (folder !== undefined || masterKeyFile !== undefined))
        throw new UsageError("--mark restores nothing. Give it alone.");
      // Imported dynamically, so that other commands do not load the server.
      const { markDatabase, restore } = await import("@beckon/server/backup");
      if (folder === undefined) {
        const options = { signal: terminal.stopped };
        const marked = await markDatabase(terminal.env, options).catch(explainBackupError);
        const database = marked.data_dir ?? "DATABASE_URL";
        await terminal.out(
          json
            ? `${toJson({ marked: true, ...marked })}\n`
            : shown(`The database in ${database} is marked as restored.\n${nextStart}`, terminal),
        );
      } else {
        const options = { masterKeyFile, signal: terminal.stopped };
        const restored = await restore(terminal.env, folder, options).catch(explainBackupError);
        const until = restored.complete_until;
        await terminal.out(
          json
            ? `${toJson(restored)}\n`
            : shown(
                `Restored into ${restored.data_dir}.\n` +
                  `It contains everything that was acknowledged before ${until}.\n${nextStart}`,
                terminal,
              ),
        );
      }
      finish(exitCodes.done);
    });
}
