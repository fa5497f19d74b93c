import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { openNamespace, withoutNamespaces } from "../server/test/fixtures/without-namespaces.ts";
import { openStream } from "../server/test/read-stream.ts";
import { startReceiver } from "../server/test/receiver.ts";
import { startTargetServer } from "../server/test/target-server.ts";
import { type Call, caller } from "./call.ts";
import {
  checkout,
  freePort,
  launch,
  type Product,
  startProduct,
  temporaryFolder,
  until,
} from "./product.ts";

/**
 * Backs Beckon up under load, and restores the backup into another folder. The tests share the
 * servers `tool` and `receiver`. They run in this order, because the later ones use the backup that
 * the first one makes.
 */

const folder = temporaryFolder();
const data = join(folder, "data");
const backup = join(folder, "backup");
const restored = join(folder, "restored");
const tool = await startTargetServer();
const receiver = await startReceiver();
afterAll(() => Promise.all([tool.close(), receiver.close()]));
// The tool never responds, so that the run is in progress when the backup is made.
tool.answer = () => {};
receiver.respond = (_request, response) => response.writeHead(503).end();

const port = String(await freePort());
const environment = (dataDir: string) => ({
  PORT: port,
  BECKON_DATA_DIR: dataDir,
  BECKON_DRAIN_SECONDS: "0",
  BECKON_EGRESS_ALLOW: `${tool.host},${new URL(receiver.origin).host}`,
  // The second attempt is an hour after the first one, so failed deliveries stay pending.
  BECKON_RETRY_SCHEDULE: "0,3600",
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `script/backup` or `script/restore`. */
async function run(
  script: "backup" | "restore",
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const given = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, BECKON_DATA_DIR: data, ...env };
  try {
    const { stdout, stderr } = await promisify(execFile)(join(checkout, "script", script), args, {
      env: given,
    });
    return { code: 0, out: stdout, err: stderr };
  } catch (thrown) {
    const { code, stdout, stderr } = thrown as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

/** Returns the folder and what is in it, as far as other users can access it. */
function accessibleToOthers(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, encoding: "utf8" });
  return [path, ...entries.map((entry) => join(path, entry))].filter(
    (each) => (statSync(each).mode & 0o077) !== 0,
  );
}

const keyOf = (dataDir: string) => readFileSync(join(dataDir, "bootstrap.key"), "utf8").trim();

interface Before {
  /** Runs that succeeded, each with the time at which the caller got the response. */
  readonly acknowledged: { readonly runId: string; readonly at: number }[];
  readonly inTool: string;
  readonly queued: string;
  readonly subscription: string;
  readonly cursor: string;
  readonly completeUntil: number;
}

/** Creates an agent that calls the tool, one run at a time. */
async function createPayer(call: Call): Promise<{ readonly id: string; readonly token: string }> {
  const operation = {
    name: "pay",
    description: "Pays",
    method: "POST",
    url: `${tool.url}/pay`,
    parameters: { type: "object", properties: {} },
  };
  const created = await call("/agents", {
    body: {
      name: "Payer",
      model: "demo/echo",
      limits: { max_concurrent_runs: 1 },
      tools: [
        {
          type: "http",
          name: "bank",
          allowed_hosts: [tool.host],
          operations: [operation],
          // If the call timed out before the backup is complete, the run would end. With the
          // default of 30 seconds, that could happen on a busy machine.
          timeout_seconds: 300,
        },
      ],
    },
  });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  return created.body.data;
}

/** Starts a run that calls the tool, and returns its id. */
async function startPayment(call: Call, payer: { id: string; token: string }): Promise<string> {
  const headers = { prefer: "respond-async" };
  const body = { input: "/call pay {}" };
  const started = await call(`/agents/${payer.id}/invoke`, { key: payer.token, headers, body });
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  return started.body.run_id;
}

async function firstLife(product: Product, call: Call): Promise<Before> {
  const payer = await createPayer(call);
  const subscribed = await call("/subscriptions", {
    body: { url: receiver.url, event_types: ["run.finished", "run.failed"] },
  });
  expect(subscribed.status, JSON.stringify(subscribed.body)).toBe(201);
  const inTool = await startPayment(call, payer);
  await until("the call of the tool", () => tool.reached.length === 1);
  const queued = await startPayment(call, payer);
  const { id, token } = product.demo();
  const acknowledged: Before["acknowledged"] = [];
  let isOver = false;
  const invoke = async () => {
    const invoked = await call(`/agents/${id}/invoke`, { key: token, body: { input: "hello" } });
    expect(invoked.status).toBe(200);
    acknowledged.push({ runId: invoked.body.run_id, at: Date.now() });
  };
  await invoke();
  await until("a failed delivery", () => receiver.received.length > 0);
  const [event] = (await call("/events?limit=1")).body.data;
  const load = Promise.all(
    Array.from({ length: 2 }, async () => {
      while (!isOver) await invoke();
    }),
  );
  // It is awaited only after the backup.
  load.catch(() => {});
  const made = await run("backup", [backup, "--json"]).finally(() => {
    isOver = true;
  });
  await load;
  expect(made).toMatchObject({ code: 0, err: "" });
  const { complete_until: completeUntil } = JSON.parse(made.out);
  return {
    acknowledged,
    inTool,
    queued,
    subscription: subscribed.body.data.id,
    cursor: event.cursor,
    completeUntil: Date.parse(completeUntil),
  };
}

let before: Before;

test("a backup is made while runs are acknowledged, with files that only their owner can read", async () => {
  const product = await startProduct(environment(data));
  before = await firstLife(
    product,
    caller(
      () => product.url,
      () => keyOf(data),
    ),
  );
  expect(before.acknowledged.some(({ at }) => at < before.completeUntil)).toBe(true);
  expect(accessibleToOthers(backup)).toEqual([]);
  const occupied = await run("restore", [backup]);
  expect(occupied).toMatchObject({ code: 1, out: "" });
  expect(occupied.err).toMatch(/Another Beckon .* is running on the data folder/);
  await product.stop();
});

const into = { BECKON_DATA_DIR: restored };
const other = join(folder, "other");

test("what would replace or miss something is rejected", async () => {
  const key = "0".repeat(64);
  const external = { DATABASE_URL: "postgresql://localhost/x", BECKON_MASTER_KEY: key };
  const cases: [Parameters<typeof run>, code: number, error: string][] = [
    [["backup", [backup]], 1, "exists already"],
    [["backup", [other], { BECKON_DATA_DIR: folder }], 1, "contains no installation"],
    [["backup", [other], external], 64, "pg_dump"],
    [["restore", [backup], into], 78, "master key is missing"],
    [["restore", [backup], { ...into, BECKON_MASTER_KEY: key }], 78, "not the one of this backup"],
    [["restore", [folder], into], 1, "contains no complete backup"],
    [["restore", [], into], 64, "Name its folder"],
    [["restore", ["--mark"], into], 1, "or DATABASE_URL to its external PostgreSQL"],
  ];
  await Promise.all(
    cases.map(async ([[script, args, env], code, error]) => {
      const result = await run(script, [...args, "--json"], env);
      expect(result).toMatchObject({ code, out: "" });
      expect(JSON.parse(result.err).error).toContain(error);
    }),
  );
});

test("after a restore, acknowledged runs are there, and nothing of before the backup is done again", async () => {
  const restore = await run("restore", [backup, "--master-key-file", join(data, "master.key")], {
    BECKON_DATA_DIR: restored,
  });
  expect(restore).toMatchObject({ code: 0, err: "" });
  expect(accessibleToOthers(restored)).toEqual([]);
  const delivered = receiver.received.length;
  const product = await startProduct(environment(restored));
  const call = caller(
    () => product.url,
    () => keyOf(restored),
  );
  // Reads one run at a time: of thousands of concurrent reads, some would wait too long for a
  // database connection and fail.
  const found = new Set<unknown>();
  for (const { runId } of before.acknowledged.filter(({ at }) => at < before.completeUntil)) {
    const { body } = await call(`/runs/${runId}`);
    found.add(body.data?.status ?? body.error);
  }
  expect(found).toEqual(new Set(["succeeded"]));

  for (const runId of [before.inTool, before.queued]) {
    const { status, error } = (await call(`/runs/${runId}`)).body.data;
    expect(status).toBe("failed");
    expect(error.code).toBe("interrupted");
    expect(error.message).toContain("restored from a backup");
  }
  const events = (await call(`/runs/${before.inTool}/events`)).body.data;
  expect(events.at(-2)).toMatchObject({ type: "run.tool_result", data: { outcome: "unknown" } });

  const deliveries = `/subscriptions/${before.subscription}/deliveries`;
  expect((await call(`${deliveries}?status=pending`)).body.data).toEqual([]);
  const closed = (await call(`${deliveries}?status=not_sent&limit=100`)).body.data;
  const missed = closed.find((each: { run_id: string }) => each.run_id === before.inTool);
  expect(missed).toMatchObject({
    status: "not_sent",
    last_error: "Beckon was restored from a backup.",
  });

  const stream = await openStream(`${product.url}/api/public/events`, {
    credential: keyOf(restored),
    headers: { "last-event-id": before.cursor },
  });
  await stream.has("stream.reset");
  stream.close();

  // A new run works. Its delivery is the first since the restore, so Beckon sent none of those that
  // were pending in the backup.
  receiver.respond = (_request, response) => response.writeHead(204).end();
  const { id, token } = product.demo();
  const invoked = await call(`/agents/${id}/invoke`, { key: token, body: { input: "again" } });
  expect(invoked.body).toMatchObject({ ok: true, output: expect.stringContaining("again") });
  await receiver.awaitCount(delivered + 1);
  expect(receiver.received[delivered]?.body.data.run_id).toBe(invoked.body.run_id);
  expect(tool.reached).toHaveLength(1);

  // A delivery that was not sent can be replayed.
  expect((await call(`${deliveries}/${missed.id}/replay`, { method: "POST" })).status).toBe(200);
  const replayed = await receiver.awaitCount(1, ({ body }) => body.data.run_id === before.inTool);
  expect(replayed[0]?.body).toMatchObject({ type: "run.failed" });
  await product.stop();
});

test("a copy of the data folder that is put back and marked repeats no tool call", async () => {
  const used = join(folder, "used");
  const copy = join(folder, "copy");
  const calls = tool.reached.length;
  const call = caller(
    () => product.url,
    () => keyOf(used),
  );
  let product = await startProduct(environment(used));
  const payer = await createPayer(call);
  await startPayment(call, payer);
  await until("the call of the first run", () => tool.reached.length === calls + 1);
  const queued = await startPayment(call, payer);
  const busy = await run("restore", ["--mark"], { BECKON_DATA_DIR: used });
  expect(busy).toMatchObject({ code: 1, out: "" });
  expect(busy.err).toMatch(/Another Beckon .* is running on the data folder/);
  await product.stop();
  cpSync(used, copy, { recursive: true });

  // After the copy was made, the queued run calls the tool.
  product = await startProduct(environment(used));
  await until("the call of the queued run", () => tool.reached.length === calls + 2);
  await product.stop();
  rmSync(used, { recursive: true });
  renameSync(copy, used);

  const marked = await run("restore", ["--mark"], { BECKON_DATA_DIR: used });
  expect(marked).toMatchObject({ code: 0, err: "" });
  expect(marked.out).toContain(`The database in ${used} is marked as restored.`);
  product = await startProduct(environment(used));
  const { status, error } = (await call(`/runs/${queued}`)).body.data;
  expect({ status, code: error?.code }).toEqual({ status: "failed", code: "interrupted" });
  await product.stop();
  expect(tool.reached).toHaveLength(calls + 2);
});

test.runIf(process.geteuid?.() === 0 && process.platform === "linux")(
  "as root without user namespaces, a backup is restored with any umask",
  async () => {
    const target = join(folder, "as-root");
    const hash = createHash("sha256").update(target).digest("hex").slice(0, 16);
    onTestFinished(() => rmSync(`/var/lib/beckon/${hash}`, { recursive: true, force: true }));
    const restoring = launch({ BECKON_DATA_DIR: target }, [
      "sh",
      ...["-c", 'umask 077 && exec "$@"', "sh", ...withoutNamespaces],
      ...[join(checkout, "script/restore"), backup],
      ...["--master-key-file", join(data, "master.key")],
    ]);
    await openNamespace(restoring.pid);
    expect(await restoring.exited, restoring.output()).toBe(0);
    expect(accessibleToOthers(target)).toEqual([]);
  },
  180_000,
);
