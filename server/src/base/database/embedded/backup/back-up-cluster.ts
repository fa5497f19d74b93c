import { randomUUID } from "node:crypto";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Client } from "pg";
import { pause } from "../../../clock.ts";
import { messageOf } from "../../../errors.ts";
import { isDiskFull } from "../disk-full.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { exists } from "../exists.ts";
import { syncFolder, syncTree } from "../sync-folder.ts";
import { type BackupFile, backupFileName } from "./backup-file.ts";
import { BaseBackupQuery } from "./base-backup-query.ts";
import { checkSpace } from "./check-space.ts";
import { NotNowError } from "./not-now-error.ts";
import { openServer } from "./open-server.ts";

/** Milliseconds between two queries of the position in the WAL. */
const sampleMs = 50;

/**
 * Writes a backup of the embedded PostgreSQL into a new folder: a base backup with the WAL that was
 * written meanwhile, and `backup.json`. If Beckon runs, it continues to run. The folder has a
 * temporary name until everything in it is synced, so a folder with the name `target` is complete.
 * @param options `target`: must not exist; its parent folder must. `version`: Beckon's version, for
 *   `backup.json`. `signal` cancels the backup.
 * @throws EmbeddedError if the backup cannot be made; NotNowError if a later attempt can succeed;
 *   the signal's reason on abort. After an error before the folder is renamed, `target` does not
 *   exist and the temporary folder is removed.
 */
export async function backUpCluster({
  dataDir,
  target,
  version,
  signal,
}: {
  readonly dataDir: string;
  readonly target: string;
  readonly version: string;
  readonly signal?: AbortSignal;
}): Promise<BackupFile> {
  const parent = await parentOfTarget(target, dataDir);
  const unfinished = join(parent, `${basename(target)}.new-${randomUUID()}`);
  const server = await openServer(dataDir, signal);
  try {
    await mkdir(unfinished, { mode: 0o700 });
    signal?.throwIfAborted();
    const backup = await copy({ ...server, folder: unfinished, version, signal });
    const file = await open(join(unfinished, backupFileName), "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(backup, undefined, 1)}\n`);
    } finally {
      await file.close();
    }
    signal?.throwIfAborted();
    await syncTree(unfinished);
    await rename(unfinished, target);
    await syncFolder(parent);
    return backup;
  } catch (thrown) {
    signal?.throwIfAborted();
    throw explain(thrown, target);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
    await server.close();
  }
}

/**
 * Returns the real path of the target's parent folder.
 * @throws EmbeddedError if the target exists, its parent folder does not, or the target would be
 *   part of its own backup.
 */
async function parentOfTarget(target: string, dataDir: string): Promise<string> {
  if (await exists(target)) throw new EmbeddedError(`${target} exists already. Name a new folder.`);
  const parent = await realpath(dirname(target)).catch(() => {
    throw new EmbeddedError(
      `The folder ${dirname(target)} does not exist. Create it, or name another one.`,
    );
  });
  const cluster = await realpath(join(dataDir, "postgres")).catch(() => undefined);
  if (cluster !== undefined && `${parent}/`.startsWith(`${cluster}/`))
    throw new EmbeddedError(`${target} is in PostgreSQL's own folder. Name another folder.`);
  return parent;
}

interface Position {
  readonly lsn: bigint;
  readonly time: Date;
}

async function copy({
  socketDir,
  cluster,
  folder,
  version,
  signal,
}: {
  readonly socketDir: string;
  readonly cluster: string;
  readonly folder: string;
  readonly version: string;
  readonly signal: AbortSignal | undefined;
}): Promise<BackupFile> {
  const replication = createClient({ socketDir, user: "postgres", replication: true });
  const sql = createClient({ socketDir, user: "beckon", replication: false });
  const ended = new AbortController();
  // Cancels the backup: if a connection has an active query, `end` destroys the connection, so the
  // query fails.
  const stop = () => {
    for (const client of [replication, sql]) void client.end().catch(() => {});
  };
  signal?.addEventListener("abort", stop);
  try {
    await Promise.all([replication.connect(), sql.connect()]);
    const installation = await readInstallation(sql);
    const first = await readPosition(sql);
    // The slot makes PostgreSQL keep the WAL that the backup needs until all files are sent.
    const slot = `beckon_backup_${randomUUID().replaceAll("-", "")}`;
    await replication.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY PHYSICAL RESERVE_WAL`);
    const keptFrom = await readSlotStart(sql, slot);
    await mkdir(join(folder, "postgres"), { mode: 0o700 });
    const query = replication.query(
      new BaseBackupQuery({
        folder: join(folder, "postgres"),
        checkSpace: (bytes) => checkSpace(dirname(folder), bytes, cluster),
      }),
    );
    const positions = samplePositions(sql, ended.signal);
    const { extractor, end } = await query.finished.catch(async (thrown: unknown) => {
      throw isDisconnect(thrown) ? ((await explainWalLimit(sql, keptFrom)) ?? thrown) : thrown;
    });
    ended.abort();
    // Each item of `positions` is a time and the WAL position at that time. Commits before that
    // time have earlier positions. So if the backup contains the position, it contains these
    // commits.
    const last = (await positions).findLast(({ lsn }) => lsn <= toLsn(end)) ?? first;
    return {
      format: 1,
      beckon: version,
      ...installation,
      started_at: first.time.toISOString(),
      complete_until: last.time.toISOString(),
      bytes: extractor.files.reduce((sum, file) => sum + file.bytes, 0),
      folders: [...extractor.folders],
      files: [...extractor.files],
    };
  } finally {
    ended.abort();
    signal?.removeEventListener("abort", stop);
    await Promise.all([replication.end(), sql.end()].map((done) => done.catch(() => {})));
  }
}

function createClient({
  socketDir,
  user,
  replication,
}: {
  readonly socketDir: string;
  readonly user: "postgres" | "beckon";
  readonly replication: boolean;
}): Client {
  const client = new Client({
    host: socketDir,
    port: 5432,
    user,
    database: user,
    ssl: false,
    connectionTimeoutMillis: 10_000,
    ...(replication
      ? { replication: "true" }
      : // `pg` returns null for times in another format.
        { query_timeout: 10_000, options: "-c datestyle=ISO" }),
  });
  client.on("error", () => {});
  return client;
}

async function readInstallation(
  client: Client,
): Promise<Pick<BackupFile, "postgresql" | "master_key">> {
  const { rows } = await client.query<{ postgresql: string; master_key: string | null }>(
    `select current_setting('server_version') as postgresql,
      substring(master_key_check from '^v1\\.[^.]+\\.') as master_key from installation`,
  );
  return { postgresql: rows[0]?.postgresql ?? "", master_key: rows[0]?.master_key ?? null };
}

async function readPosition(client: Client): Promise<Position> {
  // PostgreSQL evaluates the select list from left to right, so the time is read before the
  // position. Every commit before that time therefore has an earlier position.
  const { rows } = await client.query<{ time: Date; lsn: string }>(
    "select clock_timestamp() as time, pg_current_wal_insert_lsn() as lsn",
  );
  const [row] = rows;
  if (row === undefined)
    throw new EmbeddedError("PostgreSQL does not say its position in the WAL.");
  return { lsn: toLsn(row.lsn), time: row.time };
}

/**
 * Queries the position in the WAL every 50 ms until `ended` aborts or a query fails. Returns the
 * positions in the order of the queries.
 */
async function samplePositions(client: Client, ended: AbortSignal): Promise<Position[]> {
  const positions: Position[] = [];
  while (!ended.aborted) {
    const position = await readPosition(client).catch(() => undefined);
    if (position === undefined) break;
    positions.push(position);
    await pause(sampleMs, ended);
  }
  return positions;
}

/** Returns the position in the WAL from which on the slot keeps it. */
async function readSlotStart(client: Client, slot: string): Promise<string> {
  const { rows } = await client.query<{ restart_lsn: string }>(
    "select restart_lsn from pg_replication_slots where slot_name = $1",
    [slot],
  );
  return rows[0]?.restart_lsn ?? "0/0";
}

/**
 * Returns the error for a backup that PostgreSQL has ended because its slot would have kept more
 * WAL than `max_slot_wal_keep_size`. PostgreSQL's own error does not say so, and if the connection
 * was blocked, it sends none. Returns undefined if less was written, or if that is unknown.
 * @param keptFrom the position from which on the slot kept the WAL.
 */
async function explainWalLimit(
  client: Client,
  keptFrom: string,
): Promise<EmbeddedError | undefined> {
  // A PostgreSQL that an earlier version of Beckon has started has no limit: -1.
  const result = await client
    .query<{ max: string; exceeded: boolean | null }>(
      `select max,
        pg_current_wal_insert_lsn() - $1::pg_lsn > pg_size_bytes(nullif(max, '-1')) as exceeded
        from current_setting('max_slot_wal_keep_size') as max`,
      [keptFrom],
    )
    .catch(() => undefined);
  const row = result?.rows[0];
  if (row?.exceeded !== true) return undefined;
  return new EmbeddedError(
    `The target was too slow: PostgreSQL ended the backup after ${row.max} of WAL were written ` +
      "meanwhile, because more could fill its disk. Name a folder on a faster disk, or make the " +
      "backup when Beckon has less to do.",
  );
}

function toLsn(text: string): bigint {
  const [high = "0", low = "0"] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

function explain(thrown: unknown, target: string): Error {
  if (thrown instanceof EmbeddedError) return thrown;
  const code = fieldOf(thrown, "code");
  const reason = messageOf(thrown);
  const options = { cause: thrown };
  if (isDiskFull(thrown)) {
    return new EmbeddedError(
      `The disk became full. Nothing was left in ${dirname(target)}. Free some space, or name ` +
        "another folder.",
      options,
    );
  }
  if (code === "28000") {
    return new EmbeddedError(
      "The running Beckon was started by a version that cannot be backed up. Restart it, or stop " +
        "it for the backup.",
      options,
    );
  }
  if (code === "XX001") {
    return new EmbeddedError(
      `PostgreSQL found damaged pages in its files, which postgres.log names: ${reason}. Restore ` +
        "an earlier backup.",
      options,
    );
  }
  if (isDisconnect(thrown)) {
    return new NotNowError(
      `PostgreSQL of the running Beckon cannot be backed up now: ${reason}. Try again in a moment.`,
      options,
    );
  }
  return new EmbeddedError(`The backup ${target} cannot be made: ${reason}.`, options);
}

/** Returns whether PostgreSQL ended the connection or did not accept it. */
function isDisconnect(thrown: unknown): boolean {
  return (
    /^(08|53|57P)/.test(fieldOf(thrown, "code")) ||
    /^Connection terminated/.test(messageOf(thrown)) ||
    fieldOf(thrown, "syscall") === "connect"
  );
}

function fieldOf(thrown: unknown, name: "code" | "syscall"): string {
  const value: unknown = thrown instanceof Error ? Reflect.get(thrown, name) : undefined;
  return typeof value === "string" ? value : "";
}
