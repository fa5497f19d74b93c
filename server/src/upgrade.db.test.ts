import { readdir, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import type { Answer, CallOptions } from "../test/beckon.ts";
import { testDatabase } from "../test/database.ts";
import { eventually } from "../test/eventually.ts";
import { says, startModelServer } from "../test/model-server.ts";
import { reservedHosts } from "../test/reserved-ports.ts";
import { startTargetServer } from "../test/target-server.ts";
import { ownerOfSecret } from "./agents/records/owner-of-secret.ts";
import { checkServer } from "./base/database/index.ts";
import { bindingFor, createSecretCipher, parseMasterKey } from "./base/secrets/index.ts";
import { readConfig, start } from "./index.ts";

/**
 * The first line of the fixture: the secrets, all fake, of an installation of commit 208eb19. The
 * lines after it are SQL that inserts the rows of this installation. It was killed while 200 runs
 * were in flight. They were waiting for its model and its tool, which did not respond.
 */
interface OldInstallation {
  readonly masterKey: string;
  readonly bootstrapKey: string;
  readonly providerKey: string;
  readonly toolSecret: string;
  readonly modelHost: string;
  readonly toolHost: string;
  /** A key that can read runs. */
  readonly key: string;
  readonly trigger: { readonly id: string; readonly url: string };
  readonly agents: Readonly<Record<AgentName, { readonly id: string; readonly token: string }>>;
}
type AgentName = "asks" | "queues" | "reads" | "ships" | "asksAgain";

/**
 * Maximum time until all runs have ended. All of them wait for one model, and the machine can be
 * busy.
 */
const maxWaitMs = 90_000;

const folder = new URL("./base/database/migrations/", import.meta.url);
const migrations = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
const fixture = new URL("../test/fixtures/in-flight-at-208eb19.sql.gz", import.meta.url);
const sql = gunzipSync(await readFile(fixture)).toString();
const old = JSON.parse(sql.slice("-- ".length, sql.indexOf("\n"))) as OldInstallation;

const model = await startModelServer();
afterAll(() => model.close());
const tool = await startTargetServer();
afterAll(() => tool.close());
model.script((request, index) =>
  says(`answer to ${request.body.messages.at(-1)?.content}`)(request, index),
);
tool.answer = (_request, response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"state":"paid"}');

const { url: databaseUrl, database } = await testDatabase({ empty: true });
await checkServer({ connectionString: databaseUrl }, { trustStorage: false });
await database.engine.query(
  "create table migrations (name text primary key, applied_at timestamptz not null default now())",
);
for (const file of migrations.filter((name) => name < "0005")) {
  await database.engine.query(await readFile(new URL(file, folder), "utf8"));
  await database.engine.query("insert into migrations (name) values ($1)", [file]);
}
await database.engine.query(
  sql.replaceAll(old.modelHost, new URL(model.url).host).replaceAll(old.toolHost, tool.host),
);
// The stored runs may be past their time limit by now, and the stored key may have expired.
await database.engine.query(
  "update runs set created_at = now(), started_at = case when started_at is not null then now() end",
);
await database.engine.query("update keys set expires_at = now() + interval '1 day'");

// A tool's secret can be decrypted only with the address of the tool. This address is different
// each time this test runs, so the secrets are encrypted again.
const cipher = createSecretCipher(parseMasterKey(old.masterKey));
const { rows: secrets } = await database.engine.query(
  `select id, workspace_id as "workspaceId", agent_id as "agentId", origins, sealed
    from agent_secrets`,
);
for (const secret of secrets) {
  const owner = ownerOfSecret(secret);
  const decrypted = cipher.decrypt(secret.sealed, bindingFor(owner, [`http://${old.toolHost}`]));
  await database.engine.query("update agent_secrets set sealed = $2 where id = $1", [
    secret.id,
    cipher.encrypt(decrypted, bindingFor(owner, secret.origins)),
  ]);
}

const beckon = await start({
  // No other process uses this database, so all processes that are registered in it have exited.
  exited: "all",
  config: readConfig({
    PORT: "0",
    LOG_LEVEL: "silent",
    DATABASE_URL: databaseUrl,
    BECKON_MASTER_KEY: old.masterKey,
    BECKON_BOOTSTRAP_KEY: old.bootstrapKey,
    BECKON_DISCOVER: "0",
    BECKON_EGRESS_ALLOW: await reservedHosts(),
  }),
});
afterAll(() => beckon.stop());

async function call(
  path: string,
  { credential = old.bootstrapKey, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(`${beckon.url}/api/public${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      ...(credential === null ? {} : { "x-api-key": credential }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/**
 * Counts the runs of an agent by how they ended. Each key is a status and the events of a journal,
 * and its value is the number of runs with both.
 */
async function endsOf(name: AgentName): Promise<Record<string, number>> {
  const { body } = await call(`/agents/${old.agents[name].id}/runs?limit=100`, {
    credential: old.key,
  });
  const ends: Record<string, number> = {};
  // One after the other: on a busy machine, the last of 100 requests at once would get 503.
  for (const run of body.data) {
    const path = `/runs/${run.id}/events`;
    const { data: events } = (await call(path, { credential: old.key })).body;
    const journal = events.map(
      ({ type, data }: { type: string; data: { outcome?: string; reason?: string } }) =>
        [type.replace("run.", ""), data.outcome ?? data.reason].filter(Boolean).join("="),
    );
    const end = `${run.status}: ${journal.join(" ")}`;
    ends[end] = (ends[end] ?? 0) + 1;
    if (!journal.includes("tool_call")) expect(run.output).toBe(`answer to ${run.input}`);
    else expect(run.output).toMatch(/^answer to ./);
  }
  const { id } = body.data[0];
  expect((await call(`/runs/${id}`, { credential: old.key })).body.data).toMatchObject({ id });
  return ends;
}

test("200 runs that were in flight at an upgrade all succeed, and what is repeated is in their journals", {
  timeout: maxWaitMs + 30_000,
}, async () => {
  await eventually(
    "the end of all runs",
    async () => {
      const { rowCount } = await database.engine.query(
        "select from runs where finished_at is null limit 1",
      );
      return rowCount === 0 || undefined;
    },
    maxWaitMs,
  );
  // The model call that was in flight is made again.
  const repeated = "resumed step_lost=process_lost step finished";
  expect(await endsOf("asks")).toEqual({ [`succeeded: started ${repeated}`]: 100 });
  expect(await endsOf("queues")).toEqual({
    [`succeeded: queued started ${repeated}`]: 5,
    "succeeded: queued started step finished": 35,
  });
  expect(await endsOf("asksAgain")).toEqual({
    [`succeeded: queued started step tool_call tool_result=ok ${repeated}`]: 20,
  });
  // A tool call without a result is repeated if that is safe. Else its outcome is unknown.
  expect(await endsOf("reads")).toEqual({
    "succeeded: queued started step tool_call resumed tool_result=ok step finished": 20,
  });
  expect(await endsOf("ships")).toEqual({
    "succeeded: queued started step tool_call resumed tool_result=unknown step finished": 20,
  });
});

test("all migrations since then are applied", async () => {
  const { rows } = await database.engine.query("select name from migrations order by name");
  expect(rows.map(({ name }) => name)).toEqual(migrations);
});

test("each of them called its model once, and only tools that are safe to repeat", () => {
  expect(model.requests).toHaveLength(200);
  expect(new Set(model.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${old.providerKey}`]),
  );
  expect(tool.reached.map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array(20).fill("GET /slow?order=4711"),
  );
  expect(new Set(tool.reached.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${old.toolSecret}`]),
  );
  expect(new Set(tool.reached.map(({ headers }) => headers["x-call"])).size).toBe(20);
});

test("an Idempotency-Key from before the upgrade gets its run", async () => {
  const { id, token } = old.agents.asks;
  const again = await call(`/agents/${id}/invoke`, {
    credential: token,
    body: { input: "keyed 7" },
    headers: { "idempotency-key": "key-7" },
  });
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(again.body.output).toBe("answer to keyed 7");
  const { rows } = await database.engine.query("select run_id from idempotency where key = $1", [
    "key-7",
  ]);
  expect(rows).toEqual([{ run_id: again.body.run_id }]);
  expect(model.requests).toHaveLength(200);
});

test("credentials from before the upgrade work", async () => {
  const { id, token } = old.agents.asks;
  const invoked = await call(`/agents/${id}/invoke`, {
    credential: token,
    body: { input: "Hello" },
  });
  expect([invoked.status, invoked.body.output]).toEqual([200, "answer to Hello"]);
  const trigger = new URL(old.trigger.url).pathname.slice("/api/public".length);
  expect((await call(trigger, { credential: null, body: { text: "Hello" } })).status).toBe(200);
  expect((await call("/agents", { credential: old.key })).status).toBe(403);
  const revealed = await call(`/agents/${id}/token`);
  expect([revealed.status, revealed.body.data.token]).toEqual([200, token]);
});
