import { exitCodes } from "../exit-codes.ts";
import { CommandFailure, Interrupted } from "../terminal.ts";

/** Converts an error of a backup or restore to one that `reportFailure` prints, and throws it. */
export async function explainBackupError(thrown: unknown): Promise<never> {
  if (thrown instanceof Interrupted) {
    const message = "Interrupted. Nothing was changed.";
    throw new CommandFailure("interrupted", exitCodes.interrupted, message);
  }
  const { BackupError } = await import("@beckon/server/backup");
  if (thrown instanceof BackupError)
    throw new CommandFailure(thrown.code, thrown.exitCode, thrown.message);
  throw thrown;
}
