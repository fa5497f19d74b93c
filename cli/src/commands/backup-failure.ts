import { CommandFailure, explainInterrupt, Interrupted } from "../terminal.ts";

/** Converts an error of a backup or restore to one that `reportFailure` prints, and throws it. */
export async function explainBackupError(thrown: unknown): Promise<never> {
  if (thrown instanceof Interrupted) explainInterrupt("Nothing was changed.")(thrown);
  const { BackupError } = await import("@beckon/server/backup");
  if (thrown instanceof BackupError)
    throw new CommandFailure(thrown.code, thrown.exitCode, thrown.message);
  throw thrown;
}
