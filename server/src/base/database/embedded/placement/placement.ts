import { createHash } from "node:crypto";
import type { Command } from "../run-command.ts";
import type { Binaries } from "./find-binaries.ts";

/** The location of PostgreSQL's files and the user that runs its programs. */
export interface Placement {
  readonly binaries: Binaries;
  /**
   * Folder that contains `postgres` (the cluster) and, if its path is short enough, `socket`. It is
   * the data folder itself if possible.
   */
  readonly home: string;
  /** Owner of PostgreSQL's files; undefined if they belong to the user of this process. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /**
   * Command and arguments of a wrapper that executes the program with exec, so that the pid stays
   * the same. Empty if the program is executed directly.
   */
  readonly wrapper: readonly string[];
}

/** Returns the command that runs `bin/<program>` in this placement. */
export function programIn(
  { binaries, owner, wrapper }: Placement,
  program: "initdb" | "postgres",
  args: readonly string[],
): Command {
  const [file, ...rest] = [...wrapper, `${binaries.native}/bin/${program}`, ...args];
  return { name: program, file: file ?? "", args: rest, ...owner };
}

/**
 * Returns a short, stable hash of a data folder's path, for the names of folders outside of the
 * data folder.
 */
export function hashOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex").slice(0, 16);
}
