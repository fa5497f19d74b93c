import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { configureTrigger, github, signedAsGithub } from "../receiving-trigger.ts";
import { type Installation, install, planned } from "./installation.ts";
import { awaitEnds } from "./journal.ts";
import { type Random, seeded } from "./random.ts";
import { openWorld } from "./world.ts";

/** Number of events that are sent shortly before each kill. */
const eventsPerKill = 12;
/** Number of times that each event is sent at the same time. */
const duplicates = 3;
/**
 * Maximum time from the first request to the kill. It is short so that many kills interrupt the
 * statement that writes a request and its run, which takes a few milliseconds.
 */
const maxDelayMs = 25;
/** Maximum time until an event is acknowledged. */
const maxSendMs = 60_000;

/** The violations that a test found, and figures for `describeRequests`. */
export interface RequestReport {
  /** One line for each violation. */
  readonly broken: readonly string[];
  readonly events: number;
  /** Requests without a response or with 503, which were sent again. */
  readonly repeated: number;
  /** Responses that said that an earlier request had started the run. */
  readonly replayed: number;
}

interface SentEvent {
  readonly id: string;
  readonly runIds: Set<string>;
}

/**
 * Kills server processes around the statement that writes received request, event id and run, while
 * each event is sent several times to all processes. Every event must have one run.
 */
export async function killAroundRequests({
  seed,
  kills,
  servers = 2,
  databaseUrl,
  pool,
  log = () => {},
}: {
  readonly seed: number;
  readonly kills: number;
  /**
   * Number of server processes, at least 2. A process is killed only while another one is ready, so
   * more processes make more kills per minute.
   */
  readonly servers?: number;
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly log?: (line: string) => void;
}): Promise<RequestReport> {
  const random = seeded(seed);
  const world = await openWorld();
  // The default of 3 attempts would end some runs: with many kills a minute, a run can lose three
  // processes.
  const installation = await install(world, databaseUrl, servers, { max_attempts: 10 });
  const counts = { repeated: 0, replayed: 0 };
  const events: SentEvent[] = [];
  try {
    const { fleet, masterKey, triggerId } = installation;
    await configureTrigger(pool, masterKey, triggerId, {
      ...github,
      filter: "has(payload.input)",
      template: "{{ payload.input }}",
    });
    const restarting = new Set<Promise<void>>();
    for (let kill = 0; kill < kills; kill++) {
      while (readySlots(fleet).length < 2) await Promise.race(restarting);
      const sent = Array.from({ length: eventsPerKill }, (_, index) => {
        const event: SentEvent = { id: `${kill}-${index}`, runIds: new Set() };
        events.push(event);
        const { nonce } = planned();
        return Array.from({ length: duplicates }, () =>
          sendUntilAcknowledged(installation, { event, nonce, random, counts }),
        );
      });
      await delay(random.next() * maxDelayMs);
      const { restarted } = await fleet.kill(random.pick(readySlots(fleet)), {
        notify: random.chance(0.5),
      });
      // A restart that failed stays in the set, so that the next wait for the set throws its error.
      const restart = restarted.then(() => void restarting.delete(restart));
      restart.catch(() => {});
      restarting.add(restart);
      await Promise.all(sent.flat());
      if ((kill + 1) % 100 === 0) log(`${kill + 1} kills, ${events.length} events`);
    }
    await Promise.all(restarting);
    const open = await awaitEnds(pool, 120_000);
    return {
      ...counts,
      events: events.length,
      broken: [
        ...(open > 0 ? [`${open} runs have not ended`] : []),
        ...(await check(pool, triggerId, events)),
        ...fleet.errors,
      ],
    };
  } finally {
    await installation.close();
    await world.close();
  }
}

function readySlots({ servers }: Installation["fleet"]): number[] {
  return servers.flatMap(({ up }, slot) => (up ? slot : []));
}

/** Sends an event until it is acknowledged, as senders of webhooks do. */
async function sendUntilAcknowledged(
  { fleet, triggerToken }: Installation,
  {
    event,
    nonce,
    random,
    counts,
  }: {
    readonly event: SentEvent;
    readonly nonce: string;
    readonly random: Random;
    readonly counts: { repeated: number; replayed: number };
  },
): Promise<void> {
  const body = JSON.stringify({ input: JSON.stringify(planned({ nonce })) });
  for (const until = performance.now() + maxSendMs; performance.now() < until; ) {
    const slots = readySlots(fleet);
    const server = slots.length === 0 ? undefined : fleet.servers[random.pick(slots)];
    const response = await fetch(`${server?.url}/api/public/triggers/${triggerToken}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-github-delivery": event.id,
        ...signedAsGithub(body),
      },
      body,
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response?.status === 200 && text !== undefined) {
      event.runIds.add((JSON.parse(text) as { run_id: string }).run_id);
      if (response.headers.has("idempotency-replayed")) counts.replayed++;
      return;
    }
    if (response !== undefined && response.status !== 503)
      throw new Error(`an event got ${response.status}: ${text}`);
    counts.repeated++;
    await delay(20);
  }
  throw new Error(`event ${event.id} was not acknowledged`);
}

async function check(
  pool: Pick<Pool, "query">,
  triggerId: string,
  events: readonly SentEvent[],
): Promise<string[]> {
  const { rows } = await pool.query<{
    event_id: string;
    started: string[];
    bound: string | null;
    status: string | null;
  }>(
    `select q.event_id, array_agg(q.run_id) as started, min(e.run_id) as bound,
      min(r.status) as status
    from received_requests q
    left join trigger_event_ids e on e.trigger_id = q.trigger_id and e.event_id = q.event_id
    left join runs r on r.id = q.run_id
    where q.trigger_id = $1 and q.outcome = 'started' group by q.event_id`,
    [triggerId],
  );
  const stored = new Map(rows.map((row) => [row.event_id, row]));
  const broken = events.flatMap(({ id, runIds }) => {
    const row = stored.get(id);
    const [runId] = runIds;
    if (runIds.size !== 1) return [`event ${id} was acknowledged with ${runIds.size} runs`];
    if (row === undefined) return [`event ${id} is lost`];
    if (row.started.length !== 1) return [`event ${id} started ${row.started.length} runs`];
    if (row.started[0] !== runId || row.bound !== runId)
      return [`event ${id} is bound to another run than the acknowledged one`];
    return row.status === "succeeded" ? [] : [`the run of event ${id} is ${row.status}`];
  });
  const { rows: runs } = await pool.query<{ count: number }>(
    "select count(*)::int as count from run_inputs where trigger_id = $1",
    [triggerId],
  );
  const count = runs[0]?.count ?? 0;
  return count === events.length
    ? broken
    : [...broken, `${events.length} events have ${count} runs`];
}

/** Describes a report in one line. */
export function describeRequests({ events, repeated, replayed }: RequestReport): string {
  return (
    `${events} events, each sent ${duplicates} times: ${repeated} requests repeated, ` +
    `${replayed} answered with the run of an earlier one`
  );
}
