import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { type Placement, programIn } from "../placement/index.ts";
import { runCommand } from "../run-command.ts";
import { syncFolder } from "../sync-folder.ts";

const unfinished = "postgres.new-";

/**
 * `--locale` is the builtin provider's: the same order and case rules on every machine, for ever, unlike the C library's. The
 * categories that only the C library knows are plain C, because not every system has a C.UTF-8 of its own.
 * Without `--no-sync` initdb would sync before the role and the database exist; we sync once, after them.
 */
const options = [
  "--encoding=UTF8",
  "--locale-provider=builtin",
  "--locale=C.UTF-8",
  ...["collate", "ctype", "messages", "monetary", "numeric", "time"].map(
    (category) => `--lc-${category}=C`,
  ),
  "--auth=reject",
  "--username=postgres",
  "--no-instructions",
  "--no-sync",
];

const setup =
  "create role beckon login nosuperuser nobypassrls nocreatedb nocreaterole;\n\ncreate database beckon owner beckon;\n\n";

/**
 * Makes the cluster `<home>/postgres` where there is none, and returns its path. All of it (initdb, role, database, sync) happens
 * under another name and the rename comes last, so a start that was killed at any moment leaves nothing or everything; what it
 * left under the other name is removed here. Role and database are made in single-user mode, so that the superuser need never be
 * let in over the socket.
 * @throws EmbeddedError when the folder is another major version's, which is left untouched, or when initdb fails.
 */
export async function initialise(
  placement: Placement,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { home, binaries } = placement;
  const cluster = join(home, "postgres");
  const entries = await readdir(home);
  if (entries.includes("postgres") && (await readdir(cluster)).length > 0) {
    await refuseOtherVersion(cluster, binaries.version);
    return cluster;
  }
  // An initdb that outlived its killed supervisor may still write there, hence the retries; losing its files ends it.
  for (const name of entries.filter((name) => name.startsWith(unfinished))) {
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  const fresh = join(home, `${unfinished}${randomUUID()}`);
  const run = (program: "initdb" | "postgres", args: readonly string[], input?: string) =>
    runCommand(programIn(placement, program, args), {
      timeoutMs: 180_000,
      signal,
      ...(input === undefined ? {} : { input }),
    });
  try {
    await run("initdb", ["-D", fresh, ...options]);
    await run(
      "postgres",
      ["--single", "-F", "-j", "-D", fresh, "-c", "exit_on_error=on", "postgres"],
      setup,
    );
    await run("initdb", ["-D", fresh, "--sync-only"]);
    await rename(fresh, cluster);
    await syncFolder(home);
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    if (!(thrown instanceof EmbeddedError)) throw thrown;
    const why = /no space left|free disk space/i.test(thrown.message)
      ? "The disk is full; an empty one takes 100 MB. Free some space and start again."
      : thrown.message;
    throw new EmbeddedError(`PostgreSQL's data folder could not be made in ${home}. ${why}`, {
      cause: thrown,
    });
  }
  return cluster;
}

async function refuseOtherVersion(cluster: string, version: string): Promise<void> {
  const [ours] = version.split(".");
  const theirs = await readFile(join(cluster, "PG_VERSION"), "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
  if (theirs === ours) return;
  throw new EmbeddedError(
    theirs === undefined
      ? `${cluster} is not a PostgreSQL data folder. Move it away, or name another folder with BECKON_DATA_DIR.`
      : `${cluster} was made by PostgreSQL ${theirs}; this Beckon brings PostgreSQL ${ours}. Nothing was changed. Start it with the Beckon that made it, or dump it with PostgreSQL ${theirs}'s pg_dump and restore the dump into a new folder (BECKON_DATA_DIR), or run PostgreSQL ${theirs} on it yourself and name it with DATABASE_URL.`,
  );
}
