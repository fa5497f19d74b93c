import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { captureLog } from "../../../test/capture-log.ts";
import { testDatabase } from "../../../test/database.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { eventually } from "../../../test/eventually.ts";
import { ConfigError } from "../errors.ts";
import { checkMasterKey, createSecretCipher } from "../secrets/index.ts";
import { checkServer } from "./check-server.ts";
import type { Database } from "./index.ts";
import { migrate } from "./migrate.ts";

/** Returns an empty database, after the checks that startup makes before it migrates. */
async function emptyDatabase() {
  const empty = await testDatabase({ empty: true });
  await checkServer({ connectionString: empty.url }, { trustStorage: false });
  return empty;
}

const { database, name } = await emptyDatabase();
const earlier = await emptyDatabase();
const beforeWorkspaceEvents = await emptyDatabase();
const beforeLabels = await emptyDatabase();
const beforeSubscriptions = await emptyDatabase();
const beforeReceiving = await emptyDatabase();
const beforeRetention = await emptyDatabase();
const beforeTimeZoneChanges = await emptyDatabase();
const beforeLog = await emptyDatabase();
const blocked = await emptyDatabase();
const beforeFirstStart = await emptyDatabase();
const files = (await readdir(new URL("./migrations/", import.meta.url)))
  .filter((file) => file.endsWith(".sql"))
  .sort();

/** Adds the workspace `wsp_1` with the agent `agt_1`. */
async function addAgent(to: Database): Promise<void> {
  await to.engine.query("insert into workspaces (id, name) values ('wsp_1', 'Test')");
  await to.engine.query(
    "insert into agents (id, workspace_id, version, name, max_queued_runs) values ('agt_1', 'wsp_1', 1, 'Test', 1)",
  );
}

/** Adds the agent `agt_1` with the trigger `trg_1`. */
async function addTrigger(to: Database): Promise<void> {
  await addAgent(to);
  await to.engine.query(
    "insert into triggers (id, workspace_id, agent_id, name, prompt_prefix, enabled) values ('trg_1', 'wsp_1', 'agt_1', 'Test', '', true)",
  );
}

test("of several processes that start on an empty database one migrates and the others wait", async () => {
  let inside = 0;
  const found = await Promise.all(
    Array.from({ length: 8 }, () =>
      migrate(database.settings, async (client) => {
        // `migrate` calls this function under its lock, so the calls do not overlap.
        expect(++inside).toBe(1);
        const { rows } = await client.query<{ name: string }>(
          "select name from migrations order by name",
        );
        inside--;
        return rows.map((row) => row.name);
      }),
    ),
  );
  for (const names of found) expect(names).toEqual(files);
});

/** Applies only the migrations before `first`, so that the schema is that of an earlier version. */
async function migrateBelow({ engine }: typeof database, first: string): Promise<void> {
  await engine.query(
    "create table migrations (name text primary key, applied_at timestamptz not null default now())",
  );
  for (const file of files.filter((each) => each < first)) {
    await engine.query(
      await readFile(new URL(file, new URL("./migrations/", import.meta.url)), "utf8"),
    );
    await engine.query("insert into migrations (name) values ($1)", [file]);
  }
}

test("a migration keeps users and deletes password links without a known issuer", async () => {
  const { database: old } = earlier;
  await migrateBelow(old, "0005");
  const add = (id: string) =>
    old.engine.query("insert into users (id, name, email) values ($1, 'Ada', 'ada@example.com')", [
      id,
    ]);
  await add("usr_1");
  await expect(add("usr_2")).rejects.toMatchObject({ code: "23505" });
  await old.engine.query(
    "insert into password_resets (user_id, hash, expires_at) values ('usr_1', 'x', now() + interval '1 day')",
  );
  await migrate(old.settings, async () => {});
  expect((await old.engine.query("select id, email from users")).rows).toEqual([
    { id: "usr_1", email: "ada@example.com" },
  ]);
  expect((await old.engine.query("select from password_resets")).rowCount).toBe(0);
  await add("usr_2");
});

test("a migration keeps run events, and workspace events are ordered after them", async () => {
  const { database: old } = beforeWorkspaceEvents;
  await migrateBelow(old, "0008");
  await addAgent(old);
  await old.engine.query(
    "insert into events (run_id, seq, workspace_id, id, type, version, data) values ('run_1', 1, 'wsp_1', 'evt_1', 'run.started', 1, '{}')",
  );
  await migrate(old.settings, async () => {});
  const add = (agentId: string | null) =>
    old.engine.query(
      "insert into workspace_events (id, workspace_id, agent_id, type, version, data) values ('evt_2', 'wsp_1', $1, 'agent.paused', 1, '{}')",
      [agentId],
    );
  await add("agt_1");
  await add(null);
  await expect(add("agt_2")).rejects.toMatchObject({ code: "23503" });
  const { rows } = await old.engine.query(
    "select e.id, w.number, w.agent_id from events e join workspace_events w on w.transaction > e.transaction order by w.transaction",
  );
  expect(rows).toEqual([
    { id: "evt_1", number: "1", agent_id: "agt_1" },
    { id: "evt_1", number: "2", agent_id: null },
  ]);
});

test("a migration adds the labels of runs without rewriting the table", async () => {
  const { database: old } = beforeLabels;
  await migrateBelow(old, "0010");
  await old.engine.query(
    "insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version) values ('run_1', 'wsp_1', 1, 'invoke', 'Hello', 'token:x', 1)",
  );
  const fileOf = async () =>
    (await old.engine.query("select pg_relation_filenode('run_inputs') as file")).rows;
  const before = await fileOf();
  await migrate(old.settings, async () => {});
  expect(await fileOf()).toEqual(before);
  expect((await old.engine.query("select external_id, tags from run_inputs")).rows).toEqual([
    { external_id: null, tags: null },
  ]);
});

test("a migration adds subscriptions to a database with triggers, and none of these allows callbacks", async () => {
  const { database: old } = beforeSubscriptions;
  await migrateBelow(old, "0015");
  await addTrigger(old);
  await migrate(old.settings, async () => {});
  expect((await old.engine.query("select id, allows_callback from triggers")).rows).toEqual([
    { id: "trg_1", allows_callback: false },
  ]);
  for (const table of ["subscriptions", "deliveries", "delivery_attempts", "run_callbacks"])
    expect((await old.engine.query(`select from ${table}`)).rowCount).toBe(0);
});

test("a migration lets triggers accept what they did, and keeps their runs", async () => {
  const { database: old } = beforeReceiving;
  await migrateBelow(old, "0016");
  await addTrigger(old);
  await migrate(old.settings, async () => {});
  const { rows } = await old.engine.query(
    "select id, receiving, receiving_version, sender_secret, listening_until from triggers",
  );
  expect(rows).toEqual([
    {
      id: "trg_1",
      receiving: null,
      receiving_version: 0,
      sender_secret: null,
      listening_until: null,
    },
  ]);
  for (const table of ["received_requests", "trigger_event_ids", "request_counts"])
    expect((await old.engine.query(`select from ${table}`)).rowCount).toBe(0);
});

test("a migration keeps the audit log, and lets only its old entries be deleted", async () => {
  const { database: old } = beforeRetention;
  await migrateBelow(old, "0017");
  await old.engine.query("insert into workspaces (id, name) values ('wsp_1', 'Test')");
  await old.engine.query(
    `insert into audit (id, workspace_id, time, actor, action, target, data)
      select 'aud_' || days, 'wsp_1', now() - make_interval(hours => days * 24), 'system', 'x', 'x', '{}'
      from unnest(array[29, 31]) as days`,
  );
  await expect(old.engine.query("delete from audit")).rejects.toMatchObject({ code: "23001" });
  await migrate(old.settings, async () => {});
  for (const change of ["delete from audit", "update audit set actor = 'x'", "truncate audit"])
    await expect(old.engine.query(change), change).rejects.toMatchObject({ code: "23001" });
  expect((await old.engine.query("delete from audit where id = 'aud_31'")).rowCount).toBe(1);
  expect((await old.engine.query("select id from audit")).rows).toEqual([{ id: "aud_29" }]);
  expect(
    (await old.engine.query("select run_retention_days as days from workspaces")).rows,
  ).toEqual([{ days: null }]);
  expect(
    (await old.engine.query("select pruning_process, pruned_at from installation")).rows,
  ).toEqual([{ pruning_process: null, pruned_at: null }]);
});

test("a migration takes the last change of a workspace as that of its time zone, which a new one lacks", async () => {
  const { database: old } = beforeTimeZoneChanges;
  await migrateBelow(old, "0032");
  await old.engine.query(
    "insert into workspaces (id, name, updated_at) values ('wsp_1', 'Test', '2026-06-01T00:00:00Z')",
  );
  await migrate(old.settings, async () => {});
  await old.engine.query("insert into workspaces (id, name) values ('wsp_2', 'Test')");
  const { rows } = await old.engine.query(
    "select time_zone_changed_at as changed from workspaces order by id",
  );
  expect(rows).toEqual([{ changed: new Date("2026-06-01T00:00:00Z") }, { changed: null }]);
});

test("an upgrade logs the name of each migration, and a start without migrations logs none", async () => {
  const { database: old } = beforeLog;
  await migrateBelow(old, files.at(-2) ?? "");
  const { log, named } = captureLog();
  const settings = { ...old.settings, noticeLog: log };
  await migrate(settings, async () => {});
  const logged = () => named("a migration was applied").map((line) => line.name);
  expect(logged()).toEqual(files.slice(-2));
  await migrate(settings, async () => {});
  expect(logged()).toHaveLength(2);
});

test("an upgrade logs which migration is still running, and which processes block it", async () => {
  const { database: old } = blocked;
  await migrateBelow(old, "0010");
  const reader = await old.engine.connect();
  const { log, named } = captureLog("warn");
  const line = "a migration is still running";
  await reader.query("begin; lock table run_inputs in access share mode");
  const { rows } = await reader.query("select pg_backend_pid()::text as pid");
  const migrating = migrate(
    { ...old.settings, noticeLog: log, noticeAfterMs: 50 },
    async () => "done",
  );
  try {
    await eventually("a log line", () => named(line)[0]);
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  expect(await migrating).toBe("done");
  expect(named(line)[0]).toMatchObject({
    name: files.find((file) => file.startsWith("0010")),
    duration_ms: expect.any(Number),
    blocked_by: rows.map(({ pid }) => pid),
  });
});

test("the first start on an empty database logs no migrations", async () => {
  const { log, lines } = captureLog();
  await migrate({ ...beforeFirstStart.database.settings, noticeLog: log }, async () => {});
  expect(lines).toEqual([]);
});

test("a migration, and waiting for one, can take longer than the timeouts of the database", async () => {
  const admin = new Client({ connectionString: databaseAt(inject("server").adminUrl, name) });
  await admin.connect();
  const { rows: known } = await admin.query<{ name: string }>(
    "select name from pg_settings where name in ('lock_timeout', 'transaction_timeout')",
  );
  for (const each of known) await admin.query(`alter database ${name} set ${each.name} = '1min'`);
  onTestFinished(async () => {
    await admin.query(`alter database ${name} reset all`);
    await admin.end();
  });
  await migrate(database.settings, async (client) => {
    const { rows } = await client.query(
      "select name, setting from pg_settings where name ~ '^(statement|lock|transaction)_timeout$'",
    );
    expect(rows.map(({ setting }) => setting)).toEqual(["0", ...known.map(() => "0")]);
  });
});

test("while another process migrates, a startup logs that it waits, and then continues", async () => {
  const { log, named } = captureLog("warn");
  const line = "waiting for another process, which migrates the database";
  const continued = await migrate(database.settings, async () => {
    const settings = { ...database.settings, noticeLog: log, noticeAfterMs: 0 };
    const waiting = migrate(settings, async () => "continued");
    await eventually("a log line", () => named(line)[0]);
    return { waiting };
  });
  expect(await continued.waiting).toBe("continued");
  expect(named(line)).toEqual([expect.objectContaining({ duration_ms: expect.any(Number) })]);
});

test("PostgreSQL notices also during a statement that a migrating process is gone", async () => {
  await migrate(database.settings, async (client) => {
    const { rows } = await client.query("show client_connection_check_interval");
    expect(rows).toEqual([{ client_connection_check_interval: "10s" }]);
  });
});

test("PostgreSQL notices within a minute that the machine of a migrating process is gone", async () => {
  await migrate(database.settings, async (client) => {
    const { rows } = await client.query(
      `select inet_server_addr() is not null as tcp, current_setting('tcp_keepalives_idle') as idle,
        current_setting('tcp_keepalives_interval') as interval,
        current_setting('tcp_keepalives_count') as count,
        current_setting('tcp_user_timeout') as unacknowledged`,
    );
    // PostgreSQL ignores these settings for Unix sockets, and returns 0.
    expect(rows).toEqual([
      rows[0].tcp
        ? { tcp: true, idle: "30", interval: "10", count: "3", unacknowledged: "60000" }
        : { tcp: false, idle: "0", interval: "0", count: "0", unacknowledged: "0" },
    ]);
  });
});

test("a failure after the migrations releases the lock and keeps them", async () => {
  await expect(
    migrate(database.settings, async () => {
      throw new Error("the first start failed");
    }),
  ).rejects.toThrow("the first start failed");
  expect(await migrate(database.settings, async () => "again")).toBe("again");
});

test("another master key is rejected with a way to fix it, and changes nothing", async () => {
  const cipher = createSecretCipher(randomBytes(32));
  await migrate(database.settings, (client) => checkMasterKey(client, cipher));
  const rejected = migrate(database.settings, (client) =>
    checkMasterKey(client, createSecretCipher(randomBytes(32))),
  );
  await expect(rejected).rejects.toThrow(ConfigError);
  await expect(rejected).rejects.toThrow(/Start with that key: BECKON_MASTER_KEY/);
  await migrate(database.settings, (client) => checkMasterKey(client, cipher));
});

test("of two concurrent first startups with different master keys one is rejected", async () => {
  await database.engine.query("update installation set master_key_check = null");
  const starts = await Promise.allSettled(
    [1, 2].map((byte) =>
      migrate(database.settings, (client) =>
        checkMasterKey(client, createSecretCipher(Buffer.alloc(32, byte))),
      ),
    ),
  );
  expect(starts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("the schema of a newer Beckon is rejected and not changed", async () => {
  await database.engine.query("insert into migrations (name) values ('9999-from-the-future.sql')");
  const rejected = migrate(database.settings, async () => {
    throw new Error("it continued");
  });
  await expect(rejected).rejects.toThrow(ConfigError);
  await expect(rejected).rejects.toThrow(
    /written by a newer Beckon \(it has 9999-from-the-future\.sql\)/,
  );
  const { rows } = await database.engine.query("select count(*)::int as count from migrations");
  expect(rows).toEqual([{ count: files.length + 1 }]);
});

test("if the role cannot create tables, the error says what to grant", async () => {
  const login = `login_${randomBytes(4).toString("hex")}`;
  const adminUrl = databaseAt(inject("server").adminUrl, name);
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  onTestFinished(async () => {
    await admin.query(`drop role ${login}`);
    await admin.end();
  });
  await admin.query(`create role ${login} login password 'secret'`);
  const rejected = migrate(
    {
      connectionString: adminUrl.replace(/\/\/[^@]*@/, `//${login}:secret@`),
      options: "-c beckon.workspace=*",
    },
    async () => {},
  );
  await expect(rejected).rejects.toThrow(ConfigError);
  await expect(rejected).rejects.toThrow(`grant usage, create on schema public to ${login};`);
});
