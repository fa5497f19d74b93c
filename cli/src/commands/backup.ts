import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { shown, type Terminal, toJson } from "../terminal.ts";
import { explainBackupError } from "./backup-failure.ts";

/** Adds `beckon backup`. */
export function addBackup(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  program
    .command("backup <folder>")
    .summary("write a backup of the data folder into a new folder")
    .description(
      "Writes a backup of the PostgreSQL in the data folder (BECKON_DATA_DIR) into a new folder, " +
        "while Beckon runs or is stopped. The backup contains everything that was acknowledged " +
        "before the time that is printed. It does not contain the master key.",
    )
    .option("--json", "print JSON")
    .action(async (folder: string, { json }: { readonly json?: true }) => {
      // Imported dynamically, so that other commands do not load the server.
      const { backUp } = await import("@beckon/server/backup");
      const signal = terminal.stopped;
      const made = await backUp(terminal.env, folder, { signal }).catch(explainBackupError);
      const mib = Math.ceil(made.bytes / 1_048_576);
      await terminal.out(
        json
          ? `${toJson(made)}\n`
          : shown(
              `Backup written to ${made.folder} (${mib} MiB).\n` +
                `It contains everything that was acknowledged before ${made.complete_until}.\n` +
                "The master key is not in it. Keep a copy of it in another place.\n",
              terminal,
            ),
      );
      finish(exitCodes.done);
    });
}
