import { createHash } from "node:crypto";
import type { Command } from "../run-command.ts";
import type { Binaries } from "./find-binaries.ts";

/** Where PostgreSQL's files lie and as whom its programs run. */
export interface Placement {
  readonly binaries: Binaries;
  /** Holds `postgres` (the cluster) and, if its path is short enough, `socket`. The data folder itself, if at all possible. */
  readonly home: string;
  /** Whose PostgreSQL's files are, when not this process's own user's. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** Of a wrapper that goes before the program and becomes it (exec), so that the pid is the program's. */
  readonly wrapper: readonly string[];
}

/** How to run `bin/<program>` there. */
export function programIn(
  { binaries, owner, wrapper }: Placement,
  program: "initdb" | "postgres",
  args: readonly string[],
): Command {
  const [file, ...rest] = [...wrapper, `${binaries.native}/bin/${program}`, ...args];
  return { name: program, file: file ?? "", args: rest, ...owner };
}

/** Short and stable name for a folder, for places beside it that are derived from it. */
export function hashOf(folder: string): string {
  return createHash("sha256").update(folder).digest("hex").slice(0, 16);
}
