import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { ConfigError } from "../errors.ts";
import { checkMasterKey, createSecretCipher } from "../secrets/index.ts";
import { checkServer } from "./check-server.ts";
import { migrate } from "./migrate.ts";

const { database, name, url } = await testDatabase({ empty: true });
await checkServer({ connectionString: url }, { trustStorage: false });
const earlier = await testDatabase({ empty: true });
await checkServer({ connectionString: earlier.url }, { trustStorage: false });
const beforeWorkspaceEvents = await testDatabase({ empty: true });
await checkServer({ connectionString: beforeWorkspaceEvents.url }, { trustStorage: false });
const files = (await readdir(new URL("./migrations/", import.meta.url)))
  .filter((file) => file.endsWith(".sql"))
  .sort();

test("of many processes that start on an empty database one migrates, and the others find it done", async () => {
  let inside = 0;
  const found = await Promise.all(
    Array.from({ length: 8 }, () =>
      migrate(database.settings, async (client) => {
        // What comes after is under the same lock.
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

/** As the versions before the migration `first` left a database. */
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

test("a database of an earlier version keeps its people, and drops links to set a password whose issuer is not known", async () => {
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

test("a database without workspace events keeps its events, and those of no run come after them", async () => {
  const { database: old } = beforeWorkspaceEvents;
  await migrateBelow(old, "0008");
  await old.engine.query("insert into workspaces (id, name) values ('wsp_1', 'Test')");
  await old.engine.query(
    "insert into agents (id, workspace_id, version, name, max_queued_runs) values ('agt_1', 'wsp_1', 1, 'Test', 1)",
  );
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

test("a migration may take longer than an ordinary statement, and so may the wait for another process's", async () => {
  await migrate(database.settings, async (client) => {
    const { rows } = await client.query("select current_setting('statement_timeout') as timeout");
    expect(rows).toEqual([{ timeout: "0" }]);
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

test("another master key than the first is refused with the remedy, and harms nothing", async () => {
  const cipher = createSecretCipher(randomBytes(32));
  await migrate(database.settings, (client) => checkMasterKey(client, cipher));
  const refused = migrate(database.settings, (client) =>
    checkMasterKey(client, createSecretCipher(randomBytes(32))),
  );
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(/Start with that key: BECKON_MASTER_KEY/);
  await migrate(database.settings, (client) => checkMasterKey(client, cipher));
});

test("of two first starts at the same time with different master keys one is refused", async () => {
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

test("a schema of a newer Beckon is refused, and nothing is changed", async () => {
  await database.engine.query("insert into migrations (name) values ('9999-from-the-future.sql')");
  const refused = migrate(database.settings, async () => {
    throw new Error("it went on");
  });
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(
    /written by a newer Beckon \(it has 9999-from-the-future\.sql\)/,
  );
  const { rows } = await database.engine.query("select count(*)::int as count from migrations");
  expect(rows).toEqual([{ count: files.length + 1 }]);
});

test("a login that may not make tables is told what has to be granted", async () => {
  const login = `login_${randomBytes(4).toString("hex")}`;
  const adminUrl = databaseAt(inject("server").adminUrl, name);
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  onTestFinished(async () => {
    await admin.query(`drop role ${login}`);
    await admin.end();
  });
  await admin.query(`create role ${login} login password 'secret'`);
  const refused = migrate(
    { connectionString: adminUrl.replace(/\/\/[^@]*@/, `//${login}:secret@`) },
    async () => {},
  );
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(`grant usage, create on schema public to ${login};`);
});
