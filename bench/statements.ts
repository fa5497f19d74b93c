import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAgent } from "../server/src/agents/index.ts";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { connect, migrate } from "../server/src/base/database/index.ts";
import { newId } from "../server/src/base/ids.ts";
import { createLog } from "../server/src/base/log.ts";
import { createSecretCipher, hashCredential } from "../server/src/base/secrets/index.ts";
import { KnownSubscriptions } from "../server/src/events/index.ts";
import { noAmounts } from "../server/src/reservations/index.ts";
import { appendToRuns, appendUncharged } from "../server/src/runs/journal/append-statement.ts";
import { startRuns } from "../server/src/runs/starting/start-runs.ts";

/**
 * Measures what the batched statements of a one-step run cost PostgreSQL: the CPU time per row that
 * the executing backend uses, and the duration of a batch for its callers. One statement starts the
 * run. If there are limits, it also reserves the cost and the tokens of the run's model call. The
 * other statement writes the last entries of the run's journal.
 *
 *   node bench/statements.ts --rows 1         rows per batch; default 20
 *   node bench/statements.ts --foreign-keys   with the four foreign keys that the schema omits
 *   node bench/statements.ts --limits         with a ceiling of the workspace and one of the agent
 *   node bench/statements.ts --deliveries     with a subscription; its deliveries are not sent
 */
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "20" },
    "foreign-keys": { type: "boolean", default: false },
    limits: { type: "boolean", default: false },
    deliveries: { type: "boolean", default: false },
  },
});
const rowsInBatch = Number(values.rows);
const batches = 1_000;
const withForeignKeys = values["foreign-keys"];
const withLimits = values.limits;
const withDeliveries = values.deliveries;
const subscriptions = new KnownSubscriptions();
subscriptions.some = withDeliveries;

const dataDir = await mkdtemp(join(tmpdir(), "beckon-bench-"));
const log = createLog("warn");
const embedded = await startEmbedded({ dataDir, log });
const database = connect({ url: embedded.url, poolSize: 4, role: undefined, log });
try {
  await migrate(database.settings, async (client) => {
    await client.query("insert into workspaces (id, name) values ('wsp_bench', 'bench')");
    await client.query(
      "insert into processes (id, engine_version, lease_until) values ('prc_bench', 1, now() + interval '1 day')",
    );
    if (!withForeignKeys) return;
    for (const table of ["run_inputs", "run_results", "events"]) {
      await client.query(
        `alter table ${table} add foreign key (workspace_id, run_id) references runs (workspace_id, id)`,
      );
    }
    await client.query(
      "alter table runs add foreign key (workspace_id, agent_id) references agents (workspace_id, id)",
    );
  });
  const ctx = {
    actor: { kind: "system" } as const,
    workspaceId: "wsp_bench",
    database,
    cipher: createSecretCipher(Buffer.alloc(32)),
    egress: { missingAddressException: () => undefined },
  };
  const { data: agent } = await createAgent({
    ctx,
    input: { body: { ok: true, value: { name: "bench", model: "demo/echo" } } },
  });
  if (withLimits)
    await database.engine.query(
      `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
        select 'wsp_bench', scope.id, scope.kind, 'cost', 1000000000000, now(), now() + interval '1 day'
        from (values ('wsp_bench', 'workspace'), ($1, 'agent')) as scope (id, kind)`,
      [agent.id],
    );
  if (withDeliveries)
    await database.engine.query(
      `insert into subscriptions (id, workspace_id, url, description, event_types, payload, format,
          secret, created_by)
        values ('sub_bench', 'wsp_bench', 'http://127.0.0.1/', '',
          '{run.started,run.tool_call,run.finished,run.failed,run.cancelled}', 'full', 'standard',
          '', 'system')`,
    );
  const { rows } = await database.engine.query<{ pid: number }>("select pg_backend_pid() as pid");
  const pid = rows[0]?.pid ?? 0;
  await pass(agent);
  const costs = await pass(agent);
  const title = [
    "statement",
    ...(withForeignKeys ? ["foreign keys"] : []),
    ...(withLimits ? ["limits"] : []),
    ...(withDeliveries ? ["deliveries"] : []),
  ].join(", with ");
  console.log(`| ${title} | database CPU µs/row | ms/batch of ${rowsInBatch} |`);
  console.log("|---|---|---|");
  for (const [name, cost] of Object.entries(costs)) {
    console.log(
      `| ${name} | ${((cost.cpu * 1e6) / rowsInBatch / batches).toFixed(0)} | ${(cost.wall / batches).toFixed(2)} |`,
    );
  }

  async function pass(caller: { id: string; token: string }) {
    const costs = {
      start: { cpu: 0, wall: 0 },
      append: { cpu: 0, wall: 0 },
    };
    const measured = async (name: keyof typeof costs, act: () => Promise<unknown>) => {
      const [cpu, wall] = [cpuSeconds(pid), performance.now()];
      await act();
      costs[name].cpu += cpuSeconds(pid) - cpu;
      costs[name].wall += performance.now() - wall;
    };
    for (let batch = 0; batch < batches; batch++) {
      const runIds = Array.from({ length: rowsInBatch }, () => newId("run"));
      await measured("start", () =>
        startRuns(
          database,
          runIds.map((runId) => startRow(runId, caller)),
          { resent: false, queuedIds: [], subscriptions },
        ),
      );
      await measured("append", () =>
        (withLimits ? appendToRuns : appendUncharged)(database, runIds.map(endRow), {
          subscriptions,
          onReturned() {},
        }),
      );
    }
    return costs;
  }
} finally {
  await database.close();
  await embedded.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function startRow(runId: string, caller: { id: string; token: string }) {
  return {
    runId,
    eventId: newId("evt"),
    source: "invoke" as const,
    caller: { kind: "credential" as const, hash: hashCredential(caller.token) },
    agentId: caller.id,
    key: null,
    bodyHash: null,
    payload: "What is the state of order 4711?",
    contentType: "application/json",
    body: "good" as const,
    hasCapacity: true,
    owner: "prc_bench",
    checksLimits: withLimits,
    firstCallAmounts: withLimits
      ? { ...noAmounts, costMicros: 42, planCostMicros: 42, tokens: 30 }
      : undefined,
  };
}

function endRow(runId: string) {
  const usage = { input_tokens: 20, output_tokens: 10, cached_input_tokens: 0 };
  const output = "The order has been paid and will ship today.";
  const step = {
    step: 1,
    model: "bench/model",
    parts: [{ type: "text", text: output }],
    finish_reason: "stop",
    usage,
    duration_ms: 3,
    retries: 0,
  };
  const entry = (type: string, data: unknown) => ({
    id: newId("evt"),
    type,
    data: JSON.stringify(data),
    artifact: undefined,
  });
  const call = {
    kind: "model" as const,
    step: 1,
    outcome: "answered" as const,
    modelName: "bench/model",
    usage,
    price: { micros: 42, standardMicros: 42, origin: "library" as const },
  };
  return {
    runId,
    workspaceId: "wsp_bench",
    owner: "prc_bench",
    fence: 1,
    lastSeq: 1,
    calls: [{ entry: 0, call }],
    entries: [entry("run.step", step), entry("run.finished", { output, usage, cost_micros: null })],
    transition: { status: "succeeded" as const, output, error: null, usage, costMicros: null },
  };
}

/**
 * Returns the CPU seconds of a process that has one thread, from `schedstat`, which counts
 * nanoseconds: a batch takes less than the 10 ms in which `stat` counts.
 */
function cpuSeconds(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e9;
}
