import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Answer } from "../test/beckon.ts";
import { captureLog } from "../test/capture-log.ts";
import { eventually } from "../test/eventually.ts";
import { temporaryFolder } from "../test/fixtures/supervisor.ts";
import { echo, held, startModelServer } from "../test/model-server.ts";
import { connect } from "./base/database/connect.ts";
import { type EmbeddedOptions, startEmbedded } from "./base/database/embedded/index.ts";
import { createLog } from "./base/log.ts";
import { readConfig } from "./config.ts";
import { start } from "./main.ts";

const leaseMs = 2_000;

test("a database restart that is longer than the lease makes no process declare another dead, and runs in progress end once", async () => {
  // The servers connect through a socket in the data folder. While PostgreSQL is stopped, another
  // program could take a TCP port.
  const options: EmbeddedOptions = {
    dataDir: join(temporaryFolder(), "data"),
    log: createLog("silent"),
  };
  let embedded = await startEmbedded(options);
  onTestFinished(() => embedded.stop());
  const models = await startModelServer();
  const released = Promise.withResolvers<void>();
  models.script(held(released.promise, echo()));
  onTestFinished(async () => {
    released.resolve();
    await models.close();
  });
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const config = readConfig({
    PORT: "0",
    LOG_LEVEL: "silent",
    DATABASE_URL: embedded.url,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_LEASE_SECONDS: String(leaseMs / 1_000),
    BECKON_EGRESS_ALLOW: new URL(models.url).host,
  });
  const begunAt = performance.now();
  const logs = [captureLog("warn"), captureLog("warn")];
  const servers = await Promise.all(logs.map(({ log }) => start({ config, log })));
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const call = async (
    at: number,
    path: string,
    body?: unknown,
    credential = key,
  ): Promise<Answer> => {
    const response = await fetch(`${servers[at]?.url}/api/public${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "x-api-key": credential, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  await call(0, "/providers", { name: "held", kind: "openai-compatible", base_url: models.url });
  const { body } = await call(0, "/agents", {
    name: "Held",
    model: "held/scripted",
    limits: { max_concurrent_runs: null },
  });
  const limited = (
    await call(0, "/agents", {
      name: "Limited",
      model: "held/scripted",
      limits: { max_concurrent_runs: 2 },
    })
  ).body.data;
  const agent = body.data;
  const invoke = (at: number, of: { id: string; token: string }, input: string) =>
    call(at, `/agents/${of.id}/invoke`, { input }, of.token);
  const waiting = Array.from({ length: 20 }, (_, index) =>
    invoke(index % 2, index < 12 ? agent : limited, `run ${index}`),
  );
  await eventually("14 requests at the model", () => models.requests.length === 14 || undefined);
  // A server that has held its own lease for less than one lease period never declares another
  // server dead. Without this wait, the test could pass for that reason alone.
  await eventually(
    "a lease's length",
    () => performance.now() > begunAt + 2 * leaseMs || undefined,
  );

  await embedded.stop();
  const stoppedAt = performance.now();
  const refused = await invoke(0, agent, "refused");
  expect([refused.status, refused.body.code]).toEqual([503, "unavailable"]);
  released.resolve();
  await eventually(
    "more than two leases' length",
    () => performance.now() > stoppedAt + 2.5 * leaseMs || undefined,
  );
  embedded = await startEmbedded(options);

  for (const [index, { status, body }] of (await Promise.all(waiting)).entries()) {
    expect([status, body.output]).toEqual([200, `run ${index}`]);
  }
  const afterwards = performance.now();
  for (const at of [0, 1]) expect((await invoke(at, agent, "afterwards")).status).toBe(200);
  // If a server wrongly took the other server's lease for expired, it would declare that server
  // dead within three lease periods. So the test waits that long.
  await eventually(
    "three leases' length",
    () => performance.now() > afterwards + 3 * leaseMs || undefined,
  );

  // Each server logs the outage of five seconds once, although it tries to connect dozens of times.
  for (const { lines } of logs)
    expect(lines.map(({ msg }) => msg).filter((msg) => !msg.startsWith("the LISTEN"))).toEqual([
      "the database is unavailable",
    ]);

  const log = createLog("silent");
  const database = connect({ url: embedded.url, poolSize: 1, role: undefined, log });
  onTestFinished(() => database.close());
  const { rows: processes } = await database.engine.query(
    "select died_at, lease_until > now() as alive from processes",
  );
  expect(processes).toEqual([
    { died_at: null, alive: true },
    { died_at: null, alive: true },
  ]);
  const { rows: runs } = await database.engine.query<{
    refused: boolean;
    status: string;
    attempt: number;
    ends: number;
    count: number;
  }>(
    `select i.payload = 'refused' as refused, r.status, r.attempt, e.ends, count(*)::int from runs r join run_inputs i on i.run_id = r.id,
      lateral (select count(*)::int as ends from events e where e.run_id = r.id and e.type in ('run.finished', 'run.failed', 'run.cancelled')) as e
      group by 1, 2, 3, 4`,
  );
  expect(runs.filter(({ refused }) => !refused)).toEqual([
    { refused: false, status: "succeeded", attempt: 1, ends: 1, count: 22 },
  ]);
  // The server may already have sent the start of this run to the database when it responded with
  // 503. It then repeats the start until the database is back, so the run can exist. But it cancels
  // the run before any model call (see `submitStart`).
  expect(runs.filter(({ refused, status }) => refused && status !== "cancelled")).toEqual([]);
  expect(models.requests.length).toBe(22);
});
