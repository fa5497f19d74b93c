import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive, temporaryFolder, until } from "../../../../test/fixtures/supervisor.ts";
import { createLog } from "../../log.ts";
import { openServer } from "./backup/open-server.ts";
import { type Embedded, type EmbeddedOptions, startEmbedded } from "./index.ts";

const log = createLog("silent");

async function start(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log, ...options });
  onTestFinished(() => embedded.stop());
  return embedded;
}

async function query<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns the folder that contains PostgreSQL's files. */
function homeOf(folder: string): string {
  const elsewhere = join(folder, "postgres.elsewhere");
  return existsSync(elsewhere) ? readFileSync(elsewhere, "utf8").trim() : folder;
}

/**
 * Starts a process that is not PostgreSQL and returns its pid. The process is killed at the end of
 * the test.
 * @param argv0 the first argument of the process, with which its command line begins.
 */
function bystander(argv0: string): number {
  const child = spawn("sleep", ["100"], { argv0, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child.pid ?? 0;
}

test("a new folder gets a UTF-8 database of an ordinary role, with all durability settings on", async () => {
  const { url } = await start(join(temporaryFolder(), "deep/data"));
  expect(
    await query(
      url,
      "select current_user as who, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole from pg_roles where rolname = current_user",
    ),
  ).toEqual([
    {
      who: "beckon",
      rolsuper: false,
      rolbypassrls: false,
      rolcreatedb: false,
      rolcreaterole: false,
    },
  ]);
  expect(
    await query(
      url,
      "select datdba::regrole::text as owner, pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale from pg_database where datname = current_database()",
    ),
  ).toEqual([{ owner: "beckon", encoding: "UTF8", datlocprovider: "b", datlocale: "C.UTF-8" }]);
  const names = ["fsync", "full_page_writes", "synchronous_commit", "listen_addresses"];
  expect(
    await query(
      url,
      `select name, setting from pg_settings where name in ('${names.join("','")}') order by name`,
    ),
  ).toEqual([
    { name: "fsync", setting: "on" },
    { name: "full_page_writes", setting: "on" },
    { name: "listen_addresses", setting: "" },
    { name: "synchronous_commit", setting: "on" },
  ]);
});

test("the superuser cannot connect, and other users cannot enter the socket's folder", async () => {
  const { url, socketDir } = await start(temporaryFolder());
  await expect(
    query(
      url.replaceAll("beckon@localhost:5432/beckon", "postgres@localhost:5432/postgres"),
      "select 1",
    ),
  ).rejects.toThrow("no pg_hba.conf entry");
  expect(statSync(socketDir).mode & 0o777).toBe(0o700);
});

test("for tests of other servers it listens on 127.0.0.1 with a password", async () => {
  const { tcpUrl } = await startEmbedded({
    dataDir: temporaryFolder(),
    log,
    tcp: { password: "it's secret" },
  }).then((embedded) => {
    onTestFinished(() => embedded.stop());
    return embedded;
  });
  expect(await query(tcpUrl, "select current_user as who")).toEqual([{ who: "postgres" }]);
  await expect(query(tcpUrl.replace(/:[^:@]*@/, ":wrong@"), "select 1")).rejects.toThrow(
    "password authentication failed",
  );
});

test("data is kept after a stop and a start", async () => {
  const folder = temporaryFolder();
  const first = await start(folder);
  await query(first.url, "create table kept as select 42 as answer");
  await first.stop();
  const second = await start(folder);
  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
});

test("a second start on the same folder fails while the first one runs, and changes nothing", async () => {
  const folder = temporaryFolder();
  const first = await start(folder);
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(
    `Another Beckon (process ${process.pid}) is running on the data folder`,
  );
  expect(await query(first.url, "select 1 as answer")).toEqual([{ answer: 1 }]);
});

test("after kill -9 PostgreSQL is restarted, even while an old backend is still computing", async () => {
  const embedded = await start(temporaryFolder());
  const reasons: string[] = [];
  embedded.onExit((reason) => reasons.push(reason));
  await query(embedded.url, "create table kept as select 42 as answer");
  const busy = query(embedded.url, "select count(*) from generate_series(1, 1000000000000)").catch(
    (thrown: unknown) => thrown,
  );
  await until(
    "the query runs",
    async () =>
      (
        await query(
          embedded.url,
          "select 1 from pg_stat_activity where query like '%series(1, 1%' and pid <> pg_backend_pid()",
        )
      ).length > 0,
  );
  const killed = embedded.pid;
  process.kill(killed, "SIGKILL");
  await until(
    "another one",
    async () =>
      embedded.pid !== killed && (await query(embedded.url, "select 1").catch(() => [])).length > 0,
  );
  expect(reasons).toEqual(["killed by SIGKILL"]);
  expect(await query(embedded.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  await busy;
});

test("PostgreSQL is restarted although its log was deleted, and the log exists again", async () => {
  const embedded = await start(temporaryFolder());
  rmSync(embedded.logPath);
  const killed = embedded.pid;
  process.kill(killed, "SIGKILL");
  await until("another one", () => embedded.pid !== killed);
  expect(await query(embedded.url, "select 1 as answer")).toEqual([{ answer: 1 }]);
  expect(readFileSync(embedded.logPath, "utf8")).toContain("ready to accept connections");
});

test("a process that reuses the pid in postmaster.pid is not killed", async () => {
  const folder = temporaryFolder();
  await (await start(folder)).stop();
  const pid = bystander("sleep");
  const cluster = join(folder, "postgres");
  writeFileSync(
    join(cluster, "postmaster.pid"),
    `${pid}\n${cluster}\n${Math.floor(Date.now() / 1_000)}\n5432\n${folder}/socket\n\n`,
  );
  writeFileSync(join(folder, "socket/.s.PGSQL.5432.lock"), `${pid}\n`);
  const embedded = await start(folder);
  expect(await query(embedded.url, "select 1 as answer")).toEqual([{ answer: 1 }]);
  expect(isAlive(pid)).toBe(true);
});

test("a PostgreSQL on this folder that started later than postmaster.pid says is not killed", async () => {
  const folder = temporaryFolder();
  await (await start(folder)).stop();
  const cluster = join(folder, "postgres");
  const pid = bystander(`/bin/postgres -D ${cluster} `);
  writeFileSync(
    join(cluster, "postmaster.pid"),
    `${pid}\n${cluster}\n${Math.floor(Date.now() / 1_000) - 10}\n5432\n${folder}/socket\n\n`,
  );
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(`kill -INT ${pid}`);
  expect(isAlive(pid)).toBe(true);
});

test("a folder of another major version is rejected with a way to fix it, and not changed", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "postgres"));
  writeFileSync(join(folder, "postgres/PG_VERSION"), "17\n");
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(
    /made by PostgreSQL 17; this Beckon contains PostgreSQL 18.*external PostgreSQL/,
  );
  expect(readdirSync(join(folder, "postgres"))).toEqual(["PG_VERSION"]);
  expect(readFileSync(join(folder, "postgres/PG_VERSION"), "utf8")).toBe("17\n");
});

test("if the path is too long, the socket is in a private temporary folder, which a backup finds", async () => {
  const folder = join(temporaryFolder(), "long".repeat(25));
  const embedded = await start(folder);
  const { url, socketDir } = embedded;
  expect(socketDir.startsWith(folder)).toBe(false);
  expect(Buffer.byteLength(join(socketDir, ".s.PGSQL.5432"))).toBeLessThanOrEqual(100);
  expect(statSync(socketDir).mode & 0o777).toBe(0o700);
  expect(await query(url, "select 1 as answer")).toEqual([{ answer: 1 }]);

  vi.stubEnv("TMPDIR", temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await openServer(folder)).socketDir).toBe(socketDir);
  renameSync(socketDir, `${socketDir}.hidden`);
  await expect(openServer(folder)).rejects.toThrow(`${socketDir}/.s.PGSQL.5432, does not exist`);
  renameSync(`${socketDir}.hidden`, socketDir);
  vi.unstubAllEnvs();

  await embedded.stop();
  expect(existsSync(socketDir)).toBe(false);
});

test("if the path has a comma, the socket is in a private temporary folder", async () => {
  const folder = join(temporaryFolder(), "one,two");
  const { url, socketDir } = await start(folder);
  expect(socketDir.startsWith(folder)).toBe(false);
  expect(await query(url, "select 1 as answer")).toEqual([{ answer: 1 }]);
});

test("a path with a newline is an error that names the setting, also behind a link", async () => {
  const parent = temporaryFolder();
  const folder = join(parent, "one\ntwo");
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(
    /"[^"]*one\\ntwo" contains a newline.*BECKON_DATA_DIR/,
  );
  mkdirSync(folder);
  symlinkSync(folder, join(parent, "link"));
  await expect(startEmbedded({ dataDir: join(parent, "link"), log })).rejects.toThrow(
    "contains a newline",
  );
  expect(readdirSync(folder)).toEqual([]);
});

test("the path can contain any other character", async () => {
  const folder = join(temporaryFolder(), `- a"b'c\\d%20%#?&=:@$;*\t✓ `);
  const { url, socketDir } = await start(folder);
  expect(socketDir).toBe(join(folder, "socket"));
  expect(await query(url, "select 1 as answer")).toEqual([{ answer: 1 }]);
});

test("if neither folder can contain a socket, the error names both settings", async () => {
  const folder = join(temporaryFolder(), "one,two");
  vi.stubEnv("TMPDIR", join(folder, "temporary"));
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(
    /no comma or newline\. Set BECKON_DATA_DIR or TMPDIR/,
  );
});

test("with any umask, other users cannot read or write files in the folder", async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const folder = join(temporaryFolder(), "data");
  mkdirSync(folder);
  writeFileSync(join(folder, "lock.pid"), "");
  await start(folder);
  const open = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

test("a cluster whose folder was opened to other users is closed again, and starts", async () => {
  const folder = temporaryFolder();
  await (await start(folder)).stop();
  const cluster = join(homeOf(folder), "postgres");
  // As Kubernetes does for the group of `fsGroup`.
  chmodSync(cluster, 0o2770);
  const { url } = await start(folder);
  expect(await query(url, "select 1 as answer")).toEqual([{ answer: 1 }]);
  expect(statSync(cluster).mode & 0o077).toBe(0);
});

test("a folder that a killed restore left is removed, although the cluster exists", async () => {
  const folder = temporaryFolder();
  await (await start(folder)).stop();
  const home = homeOf(folder);
  mkdirSync(join(home, "postgres.new-left"));
  await start(folder);
  expect(readdirSync(home)).not.toContain("postgres.new-left");
});

test.skipIf(process.platform !== "linux")("on a full disk, the error says so", async () => {
  const folder = temporaryFolder();
  await (await start(folder)).stop();
  // Every write to this device fails with ENOSPC.
  symlinkSync("/dev/full", join(homeOf(folder), "postgres/pg_hba.conf.new"));
  await expect(startEmbedded({ dataDir: folder, log })).rejects.toThrow(
    `${folder} cannot be opened: the disk is full (ENOSPC: no space left on device, write). Free some space`,
  );
});

test("a data folder that cannot be created is an error that names it and the setting", async () => {
  await expect(startEmbedded({ dataDir: "/dev/null/data", log })).rejects.toThrow(
    /\/dev\/null\/data cannot be used.*BECKON_DATA_DIR/,
  );
});

test("an aborted start leaves no process and no partial cluster", async () => {
  const folder = temporaryFolder();
  const given = new AbortController();
  const starting = startEmbedded({ dataDir: folder, log, signal: given.signal });
  const rejected = expect(starting).rejects.toThrow("cancelled");
  await until("initdb", () => readdirSync(folder).some((name) => name.startsWith("postgres.new-")));
  given.abort(new Error("cancelled"));
  await rejected;
  expect(readdirSync(folder).filter((name) => name.startsWith("postgres."))).toEqual([
    "postgres.log",
  ]);
  expect(existsSync(join(folder, "postgres"))).toBe(false);
  await start(folder);
});
