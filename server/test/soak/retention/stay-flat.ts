import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { run } from "../../../../bench/processes.ts";
import { type Installation, install } from "./installation.ts";
import { startLoad } from "./steady-load.ts";

/**
 * Creates runs for a long time while the server deletes as many old runs. Compares the figures of
 * the last third of this time with those of the first third.
 */

const perSecond = 50;
/**
 * Connections of the load. All of them are opened before the warm-up. If the client opened more
 * whenever responses take longer, the server's open files would grow without a leak.
 */
const connections = 32;
const dayMs = 24 * 3_600_000;
/**
 * Duration of the warm-up, as a part of the measured time after it. In the warm-up, caches fill and
 * the first runs become old enough to be deleted.
 */
const warmUpShare = 1 / 6;
/** Age from which a run is deleted, as a part of the duration of the test. */
const keptShare = 1 / 20;
/** Something counts as growing if the last third exceeds the first by more than this share. */
const maxGrowth = 0.1;
/**
 * Allowed growth of the server's open files and of its connections to PostgreSQL. The number of
 * open files varies: the busier the machine, the more connections to the model are open at once. A
 * leak of one file in 5,000 requests would exceed the limit in an hour.
 */
const maxMore = { descriptors: 20, connections: 2 };
/**
 * A table counts as growing only if it also grows by this much. PostgreSQL extends the file of a
 * small table by several pages at once, which can be more than `maxGrowth`.
 */
const minBytes = 512 * 1_024;

/** Tables that are allowed to grow, because their rows are kept for ever, or for a year. */
const keptForEver = ["usage_entries", "usage_days", "audit", "workspace_events"];

interface Sample {
  readonly serverMiB: number;
  readonly databaseMiB: number;
  /**
   * Open files of the server: the lowest reading of the sample, because connections to the model
   * are opened and closed all the time.
   */
  readonly descriptors: number;
  /** Connections of the server to PostgreSQL. */
  readonly connections: number;
  /**
   * Bytes of each table with its indexes, by name. `pg_catalog` has the sum of PostgreSQL's own
   * tables.
   */
  readonly bytes: ReadonlyMap<string, { readonly all: number; readonly indexes: number }>;
  readonly runs: { readonly created: number; readonly deleted: number };
}

/**
 * Returns false if something grew, a request failed, or the numbers of created and deleted runs
 * differ by more than 5 %.
 *
 * @param log receives a line for each sample, each problem, and a line of figures.
 * @param minutes duration after the warm-up.
 */
export async function stayFlat(
  log: (line: string) => void,
  { minutes }: { minutes: number },
): Promise<boolean> {
  const opened = new AsyncDisposableStack();
  try {
    const receiver = await run<{ port: number }>(opened, "receivers/receiver.ts", ["fast"]);
    const receiverPort = receiver.message.port;
    const keptDays = (minutes * keptShare * 60_000) / dayMs;
    const installation = await install(opened, {
      retention: {
        runsDays: keptDays,
        idempotencyDays: keptDays,
        deliveriesDays: keptDays,
        requestsDays: keptDays,
        sessionsDays: 30,
        invitationsDays: 30,
        auditDays: 365,
        usageDays: 0,
      },
      pruning: { firstMs: 0, everyMs: 5_000, intervalSeconds: 0 },
      allow: [`127.0.0.1:${receiverPort}`],
    });
    const send = await openMix(opened, installation, receiverPort);
    await Promise.all(Array.from({ length: connections }, () => send(1)));
    const load = startLoad(perSecond, send);
    const samples: Sample[] = [];
    const warmUpMs = minutes * warmUpShare * 60_000;
    const everyMs = Math.min(60_000, (minutes * 60_000) / 12);
    await delay(warmUpMs);
    const beganAt = performance.now();
    for (const endAt = beganAt + minutes * 60_000; performance.now() < endAt; ) {
      const sample = await sampleOver(installation, everyMs);
      samples.push(sample);
      log(
        `retention: minute ${((performance.now() - beganAt) / 60_000).toFixed(1)}: ${describe(sample)}`,
      );
    }
    await load.stop();
    return report(log, samples, { failures: load.failures, succeeded: load.succeeded, minutes });
  } finally {
    await opened.disposeAsync();
  }
}

/**
 * Returns the function that sends request `index`: eight of ten invoke an agent, one does so with
 * an Idempotency-Key, and one goes to a trigger whose runs are delivered to a subscription.
 */
async function openMix(
  opened: AsyncDisposableStack,
  { api, agent, port }: Installation,
  receiverPort: number,
): Promise<(index: number) => Promise<void>> {
  const fired = await api<{ id: string }>("POST", "/agents", {
    name: "fired",
    model: "model/bench",
  });
  const trigger = await api<{ url: string }>("POST", `/agents/${fired.id}/triggers`, {
    name: "received",
    receiving: { verification: { kind: "none" } },
  });
  await api("POST", "/subscriptions", {
    url: `http://127.0.0.1:${receiverPort}/`,
    event_types: ["run.finished"],
    agent_ids: [fired.id],
  });
  const dispatcher = new Agent({ connections, keepAliveTimeout: 60_000 });
  opened.defer(() => dispatcher.destroy());
  const invokeUrl = `http://127.0.0.1:${port}/api/public/agents/${agent.id}/invoke`;
  return async (index) => {
    const isFired = index % 10 === 0;
    const response = await request(isFired ? trigger.url : invokeUrl, {
      method: "POST",
      dispatcher,
      headers: {
        "content-type": "application/json",
        ...(isFired ? {} : { "x-api-key": agent.token }),
        ...(index % 10 === 5 ? { "idempotency-key": `soak-${index}` } : {}),
      },
      body: JSON.stringify({ input: `What is the state of order ${index}?` }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
  };
}

/** Reads the processes several times within a period, and the database at its end. */
async function sampleOver(installation: Installation, periodMs: number): Promise<Sample> {
  const readings: ReturnType<Installation["processes"]>[] = [];
  for (const endAt = performance.now() + periodMs; performance.now() < endAt; ) {
    await delay(Math.min(5_000, periodMs / 4));
    readings.push(installation.processes());
  }
  const { engine } = installation;
  const { rows: tables } = await engine.query<{ name: string; all: number; indexes: number }>(
    `select relname as name, pg_total_relation_size(oid)::float8 as all,
      pg_indexes_size(oid)::float8 as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    union all
    select 'pg_catalog', sum(pg_total_relation_size(oid))::float8, 0
    from pg_class where relkind = 'r' and relnamespace = 'pg_catalog'::regnamespace`,
  );
  const { rows: counts } = await engine.query<{
    connections: number;
    created: number;
    deleted: number;
  }>(
    `select (select count(*)::int from pg_stat_activity
        where backend_type = 'client backend' and application_name = 'beckon') as connections,
      pg_stat_get_tuples_inserted('runs'::regclass)::float8 as created,
      pg_stat_get_tuples_deleted('runs'::regclass)::float8 as deleted`,
  );
  const { connections, created, deleted } = counts[0] ?? { connections: 0, created: 0, deleted: 0 };
  return {
    serverMiB: mean(readings.map((each) => each.serverMiB)),
    databaseMiB: mean(readings.map((each) => each.databaseMiB)),
    descriptors: Math.min(...readings.map((each) => each.descriptors)),
    connections,
    bytes: new Map(tables.map(({ name, ...bytes }) => [name, bytes])),
    runs: { created, deleted },
  };
}

function report(
  log: (line: string) => void,
  samples: readonly Sample[],
  {
    failures,
    succeeded,
    minutes,
  }: { failures: readonly string[]; succeeded: number; minutes: number },
): boolean {
  const third = Math.floor(samples.length / 3);
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const compare = (value: (sample: Sample) => number) => ({
    before: mean(first.map(value)),
    after: mean(last.map(value)),
  });
  const broken = [...new Set(failures)].slice(0, 10);
  const figures: string[] = [];

  for (const [name, value] of [
    ["server resident", (sample: Sample) => sample.serverMiB],
    ["PostgreSQL private", (sample: Sample) => sample.databaseMiB],
  ] as const) {
    const { before, after } = compare(value);
    figures.push(`${name} ${before.toFixed(0)} → ${after.toFixed(0)} MiB`);
    if (after > before * (1 + maxGrowth)) broken.push(`${name} grew by ${growth(before, after)}`);
  }
  for (const name of ["descriptors", "connections"] as const) {
    const { before, after } = compare((sample) => sample[name]);
    figures.push(`${name} ${before.toFixed(1)} → ${after.toFixed(1)}`);
    if (after > before + maxMore[name]) broken.push(`${name} grew from ${before} to ${after}`);
  }
  const tables = [...(samples[0]?.bytes.keys() ?? [])].filter(
    (name) => !keptForEver.includes(name),
  );
  for (const name of tables) {
    for (const part of ["all", "indexes"] as const) {
      const { before, after } = compare((sample) => sample.bytes.get(name)?.[part] ?? 0);
      if (after > before * (1 + maxGrowth) && after > before + minBytes)
        broken.push(`${name} (${part}) grew from ${mib(before)} to ${mib(after)} MiB`);
    }
    const { before, after } = compare((sample) => sample.bytes.get(name)?.all ?? 0);
    if (Math.max(before, after) >= 2 ** 20)
      figures.push(`${name} ${mib(before)} → ${mib(after)} MiB`);
  }
  const all = (sample: Sample) =>
    tables.reduce((sum, name) => sum + (sample.bytes.get(name)?.all ?? 0), 0);
  const total = compare(all);
  if (total.after > total.before * (1 + maxGrowth))
    broken.push(`all tables grew from ${mib(total.before)} to ${mib(total.after)} MiB`);

  const [begin, end] = [samples[0], samples.at(-1)];
  const created = (end?.runs.created ?? 0) - (begin?.runs.created ?? 0);
  const deleted = (end?.runs.deleted ?? 0) - (begin?.runs.deleted ?? 0);
  if (Math.abs(created - deleted) > 0.05 * created)
    broken.push(`${created} runs were created and ${deleted} deleted`);
  const ledger = (sample: Sample | undefined) => sample?.bytes.get("usage_entries")?.all ?? 0;
  for (const line of broken) log(`✗ retention: ${line}`);
  log(
    `soak: retention, ${minutes} minutes: ${succeeded} requests, ${failures.length} failed; ` +
      `${created} runs created and ${deleted} deleted after the warm-up; first → last third: ` +
      `${figures.join(", ")}, all tables ${mib(total.before)} → ${mib(total.after)} MiB; usage ledger ` +
      `${((ledger(end) - ledger(begin)) / Math.max(1, created)).toFixed(0)} bytes per run; ` +
      `${broken.length} promises broken`,
  );
  return broken.length === 0;
}

function describe({
  serverMiB,
  databaseMiB,
  descriptors,
  connections,
  bytes,
  runs,
}: Sample): string {
  const all = [...bytes]
    .filter(([name]) => !keptForEver.includes(name))
    .reduce((sum, [, size]) => sum + size.all, 0);
  const largest = ["runs", "events", "run_inputs", "run_results", "usage_entries"]
    .map((name) => `${name} ${mib(bytes.get(name)?.all ?? 0)}`)
    .join(", ");
  return (
    `server ${serverMiB.toFixed(0)} MiB, PostgreSQL ${databaseMiB.toFixed(0)} MiB, ` +
    `${descriptors.toFixed(0)} descriptors, ${connections} connections, tables ${mib(all)} MiB ` +
    `(${largest}), ${runs.created} runs created, ${runs.deleted} deleted`
  );
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
const growth = (before: number, after: number) => `${((after / before - 1) * 100).toFixed(0)} %`;
