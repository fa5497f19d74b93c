import { stat } from "node:fs/promises";
import { EmbeddedError } from "./embedded-error.ts";

/**
 * Returns whether the path exists.
 * @throws EmbeddedError if that cannot be read, for example because a parent folder denies access.
 */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new EmbeddedError(
      `${path} cannot be read (${code}). Run this as the user who owns the folder, or name ` +
        "another folder.",
      { cause },
    );
  }
}

/** Returns whether the path exists and this process can reach it. */
export async function isReachable(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
