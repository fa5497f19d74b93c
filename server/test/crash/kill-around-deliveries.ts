import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { eventually } from "../eventually.ts";
import { type Received, startReceiver } from "../receiver.ts";
import { subscribe } from "../subscribe.ts";
import { type Call, openCaller } from "./calls.ts";
import { install, planned } from "./installation.ts";
import { awaitEnds } from "./journal.ts";
import { type Random, seeded } from "./random.ts";
import { openWorld } from "./world.ts";

/** Delivered events of each run: its start, one tool call and its end. */
const eventsPerRun = 3;
/** Maximum time between the start of a batch of runs and the kill. */
const maxDelayMs = 150;
/** Maximum time that the receiver takes to respond. */
const maxResponseMs = 80;
/**
 * Maximum time until all deliveries are finished. Deliveries that a killed process had claimed are
 * sent again when the claim expires, which is after 6 s.
 */
const maxDrainMs = 120_000;

/** The violations that a test found, and figures for `describeDeliveries`. */
export interface DeliveryReport {
  /** One line for each violation. */
  readonly broken: readonly string[];
  readonly runs: number;
  readonly events: number;
  /** Requests that the receiver got. */
  readonly received: number;
  /** Requests beyond the first for each event. */
  readonly duplicates: number;
}

/**
 * Kills server processes while runs write events and the events are delivered. Every event must
 * arrive at least once, with the same body each time, and more than once only if an attempt failed
 * or its process was killed.
 */
export async function killAroundDeliveries({
  seed,
  kills,
  events,
  databaseUrl,
  pool,
  log = () => {},
}: {
  readonly seed: number;
  readonly kills: number;
  readonly events: number;
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly log?: (line: string) => void;
}): Promise<DeliveryReport> {
  const random = seeded(seed);
  const world = await openWorld();
  const receiver = await startReceiver();
  receiver.respond = (_request, response) =>
    void delay(random.next() * maxResponseMs).then(() => response.writeHead(204).end());
  const installation = await install(
    world,
    databaseUrl,
    2,
    {},
    {
      callable: [new URL(receiver.url).host],
      settings: {
        BECKON_DELIVERY_TIMEOUT_SECONDS: "2",
        BECKON_RETRY_SCHEDULE: Array(20).fill("1").fill("0", 0, 1).join(),
      },
    },
  );
  try {
    const { fleet } = installation;
    await subscribe(pool, installation.masterKey, { url: receiver.url });
    const caller = openCaller(installation, seeded(random.below(2 ** 31)));
    const killedUrls = new Set<string>();
    const runsPerKill = Math.ceil(events / eventsPerRun / kills);
    for (let kill = 0; kill < kills; kill++) {
      const sent = Array.from({ length: runsPerKill }, () =>
        caller.send({ plan: planned({ steps: ["safe"] }), source: "fire", keyed: true }),
      );
      killedUrls.add(await killOne(random, fleet));
      await Promise.all(sent);
      if ((kill + 1) % 10 === 0) log(`${kill + 1} kills, ${receiver.received.length} requests`);
    }
    const unendedRuns = await awaitEnds(pool, maxDrainMs);
    const hasPending = await remainPending(pool);
    const { broken, ...figures } = checkDeliveries(await readEvents(pool), {
      received: receiver.received,
      killedUrls,
      calls: caller.calls,
      unendedRuns,
      hasPending,
    });
    return { ...figures, broken: [...broken, ...fleet.errors] };
  } finally {
    await installation.close();
    await Promise.all([world.close(), receiver.close()]);
  }
}

/** Kills one server and waits until the next one is ready. Returns the URL of the killed one. */
async function killOne(
  random: Random,
  fleet: Awaited<ReturnType<typeof install>>["fleet"],
): Promise<string> {
  await delay(random.next() * maxDelayMs);
  const slot = random.below(fleet.servers.length);
  const url = fleet.servers[slot]?.url ?? "";
  const { restarted } = await fleet.kill(slot, { notify: random.chance(0.5) });
  await restarted;
  return url;
}

/** Waits until no delivery is pending. @returns whether one is still pending after `maxDrainMs` */
async function remainPending(pool: Pick<Pool, "query">): Promise<boolean> {
  const finished = eventually(
    "the end of all deliveries",
    async () => {
      const { rows } = await pool.query("select from deliveries where status = 'pending' limit 1");
      return rows.length === 0 ? true : undefined;
    },
    maxDrainMs,
  );
  return finished.then(
    () => false,
    () => true,
  );
}

/**
 * An event of a run. `delivered` is the status of its delivery, and `attempts` the number of
 * attempts whose outcome was recorded; null if it has no delivery.
 */
interface StoredEvent {
  readonly id: string;
  readonly run_id: string;
  readonly seq: number;
  readonly type: string;
  readonly delivered: string | null;
  readonly attempts: number | null;
}

/** Returns all events, by run and in order. */
async function readEvents(pool: Pick<Pool, "query">): Promise<StoredEvent[]> {
  const { rows } = await pool.query<StoredEvent>(
    `select e.id, e.run_id, e.seq, e.type, d.status as delivered, d.attempts
      from events e left join deliveries d on d.event_id = e.id order by e.run_id, e.seq`,
  );
  return rows;
}

/**
 * Compares the stored events with the requests that the receiver got, and with the callers' runs.
 */
export function checkDeliveries(
  stored: readonly StoredEvent[],
  {
    received,
    killedUrls,
    calls,
    unendedRuns,
    hasPending,
  }: {
    readonly received: readonly Pick<Received, "id" | "text" | "body">[];
    /** Of the servers that were killed. Without PUBLIC_URL, a body has the URL of its server. */
    readonly killedUrls: ReadonlySet<string>;
    readonly calls: readonly Pick<Call, "plan" | "acknowledged">[];
    readonly unendedRuns: number;
    readonly hasPending: boolean;
  },
): DeliveryReport {
  const broken: string[] = [];
  if (unendedRuns > 0) broken.push(`${unendedRuns} runs have not ended`);
  if (hasPending) broken.push("deliveries are still pending");
  const texts = new Map<string, string>();
  for (const { id, text: whole } of received) {
    // The address of the server is removed, because another server can send the same event again.
    const text = whole.replace(/"url":"http:\/\/[^/]+/, '"url":"');
    if (texts.has(id) && texts.get(id) !== text) broken.push(`${id} had two bodies`);
    texts.set(id, text);
  }
  const wanted = stored.filter(({ type }) => deliveredTypes.has(type));
  const bySurvivors = Map.groupBy(
    received.filter(({ body }) => !killedUrls.has(new URL(body.data.url).origin)),
    ({ id }) => id,
  );
  for (const { id, type, delivered, attempts } of wanted) {
    if (!texts.has(id)) broken.push(`${type} ${id} did not arrive`);
    if (delivered !== "succeeded") broken.push(`the delivery of ${type} ${id} is ${delivered}`);
    const sent = bySurvivors.get(id)?.length ?? 0;
    if (sent > (attempts ?? 0))
      broken.push(`${type} ${id} was sent ${sent} times, and ${attempts} attempts were recorded`);
  }
  const known = new Set(wanted.map(({ id }) => id));
  for (const id of texts.keys()) if (!known.has(id)) broken.push(`${id} is no event`);
  const runs = Map.groupBy(stored, ({ run_id }) => run_id);
  const ends = Map.groupBy(
    received.filter(({ body }) => lastTypes.has(body.type)),
    ({ body }): string => body.data.run_id,
  );
  for (const [runId, events] of runs) {
    if (events.some(({ seq }, index) => seq !== index + 1)) broken.push(`${runId} has a gap`);
    const endIds = new Set(ends.get(runId)?.map(({ id }) => id));
    if (endIds.size !== 1) broken.push(`${runId} has ${endIds.size} last events`);
  }
  for (const { plan, acknowledged } of calls) {
    if (acknowledged.length === 0) broken.push(`${plan.nonce} was never acknowledged`);
    for (const { runId } of acknowledged)
      if (!runs.has(runId)) broken.push(`${runId} was acknowledged and has no events`);
  }
  return {
    broken,
    runs: runs.size,
    events: wanted.length,
    received: received.length,
    duplicates: received.length - texts.size,
  };
}

const lastTypes = new Set(["run.finished", "run.failed", "run.cancelled"]);
const deliveredTypes = new Set(["run.started", "run.tool_call", ...lastTypes]);

/** Describes a report in one line. */
export function describeDeliveries({ runs, events, received, duplicates }: DeliveryReport): string {
  const percent = ((100 * duplicates) / Math.max(1, events)).toFixed(2);
  return (
    `${events} events of ${runs} runs arrived with ${received} requests: ` +
    `${duplicates} duplicates (${percent} %)`
  );
}
