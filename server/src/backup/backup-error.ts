import { EmbeddedError, NotNowError } from "../base/database/embedded/index.ts";
import { ConfigError } from "../base/errors.ts";
import { exitCodes } from "../base/exit-codes.ts";

/** Why a backup or a restore is not possible. The message says what to do. */
export class BackupError extends Error {
  readonly code: "usage" | "invalid_setting" | "temporary" | "failed";
  /** Exit code of the command: one of `exitCodes`, or 1, which is possible only with `failed`. */
  readonly exitCode: number;

  constructor(
    code: BackupError["code"],
    message: string,
    options?: { exitCode?: number; cause?: unknown },
  ) {
    super(message, { cause: options?.cause });
    this.code = code;
    this.exitCode = options?.exitCode ?? exitCodeOf[code];
  }
}

const exitCodeOf = {
  usage: exitCodes.usage,
  invalid_setting: exitCodes.invalidConfiguration,
  temporary: exitCodes.databaseUnreachable,
  failed: 1,
} as const;

/**
 * Returns the result of `act`.
 * @throws BackupError in place of a ConfigError or EmbeddedError, which a person can correct; other
 *   errors of `act` unchanged.
 */
export async function explained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    const options = { cause: thrown };
    if (thrown instanceof ConfigError)
      throw new BackupError("invalid_setting", thrown.message, options);
    if (thrown instanceof NotNowError) throw new BackupError("temporary", thrown.message, options);
    if (thrown instanceof EmbeddedError) throw new BackupError("failed", thrown.message, options);
    throw thrown;
  }
}
