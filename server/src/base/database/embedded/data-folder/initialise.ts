import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { type Placement, programIn } from "../placement/index.ts";
import { runCommand } from "../run-command.ts";
import { syncFolder } from "../sync-folder.ts";
import { removeUnfinished, unfinishedCluster } from "./unfinished.ts";

/**
 * Arguments of initdb. `--locale` selects a locale of PostgreSQL's builtin provider, whose
 * collation and case mapping are the same on every machine and in every version, unlike those of
 * the C library. The categories that exist only in the C library are set to `C`, because some
 * systems lack `C.UTF-8`. `--no-sync` turns off the sync by initdb; `initialise` syncs once, after
 * it has created the role and the database.
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
 * Creates the cluster `<home>/postgres` if it does not exist, and returns its path. The cluster is
 * created under a temporary name (initdb, role, database, sync) and then renamed, so a killed
 * startup leaves no incomplete cluster under the final name. Folders that killed startups left
 * under temporary names are removed. The role and the database are created in single-user mode, so
 * that the superuser never needs access over the socket.
 * @throws EmbeddedError if initdb fails, or if the existing cluster belongs to another major
 *   version of PostgreSQL. That cluster is not changed. On abort, throws the signal's reason.
 */
export async function initialise(
  placement: Placement,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { home, binaries } = placement;
  const cluster = join(home, "postgres");
  await removeUnfinished(home);
  if ((await readdir(home)).includes("postgres") && (await readdir(cluster)).length > 0) {
    await rejectOtherVersion(cluster, binaries.version);
    return cluster;
  }
  const fresh = unfinishedCluster(home);
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
      ? "The disk is full; an empty data folder takes 100 MB. Free some space and start again."
      : thrown.message;
    throw new EmbeddedError(`PostgreSQL's data folder could not be created in ${home}. ${why}`, {
      cause: thrown,
    });
  }
  return cluster;
}

/**
 * @param version of the PostgreSQL that Beckon contains.
 * @throws EmbeddedError if the cluster belongs to another major version, or is no cluster.
 */
export async function rejectOtherVersion(cluster: string, version: string): Promise<void> {
  const [ours] = version.split(".");
  const theirs = await readFile(join(cluster, "PG_VERSION"), "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
  if (theirs === ours) return;
  throw new EmbeddedError(
    theirs === undefined
      ? `${cluster} is not a PostgreSQL data folder. Move it away, or set BECKON_DATA_DIR to ` +
          "another folder."
      : `${cluster} was made by PostgreSQL ${theirs}; this Beckon contains PostgreSQL ` +
          `${ours}. Nothing was changed. Start it with the Beckon that created it. To use this ` +
          "Beckon, first move the data to an external PostgreSQL with that one, as " +
          "docs/operate.md says.",
  );
}
