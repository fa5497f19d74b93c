import { expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { startBusyModel } from "../../test/busy-model.ts";
import { crashSeed as seed, seeded } from "../../test/crash/random.ts";
import { eventually } from "../../test/eventually.ts";
import { type Proxy as Network, startProxy, statement } from "../../test/proxy.ts";

/**
 * A server that serves callers and executes no runs. Its connection to the database has no faults.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Fault = (proxy: Network) => Promise<unknown>;

async function during(proxy: Network, weather: Network["weather"], ms: number): Promise<void> {
  proxy.weather = weather;
  await pause(ms);
  proxy.weather = { type: "fair" };
}

/**
 * Drops data for `ms` without an error, then resets the connections, like a NAT gateway after a
 * restart. `mute` drops only PostgreSQL's replies, `blackHole` drops both directions.
 */
async function silent(proxy: Network, type: "mute" | "blackHole", ms: number): Promise<void> {
  await during(proxy, { type }, ms);
  proxy.drop({ hard: true });
}

async function closed(proxy: Network, ms: number): Promise<void> {
  proxy.drop();
  await during(proxy, { type: "closed" }, ms);
}

/**
 * Returns a fault that resets the connection of the next statement `name` once the statement is
 * committed. If there is no such statement within 300 ms, nothing happens.
 * @param pass number of bytes of PostgreSQL's reply that Beckon still gets.
 */
const cut =
  (name: string, pass: "nothing" | number = "nothing"): Fault =>
  (proxy) =>
    Promise.race([proxy.cutNext({ request: statement(name), pass }), pause(300)]);

/** Short faults. Each lasts less than a second, so no timeout expires. */
const short: readonly Fault[] = [
  (proxy) => during(proxy, { type: "slow", ms: 40 }, 700),
  async (proxy) => proxy.drop(),
  async (proxy) => proxy.drop({ hard: true }),
  (proxy) => closed(proxy, 600),
  (proxy) => silent(proxy, "mute", 500),
  (proxy) => silent(proxy, "blackHole", 500),
  cut("start"),
  cut("start", 30),
  cut("append"),
  cut("append"),
  cut("claim"),
  cut("claim-limited-agents"),
  cut("read-outcome"),
];

/**
 * Faults that last longer than 5 s. After this time, a request to start a run gets a `503` response
 * because the database is unavailable.
 */
const long: readonly Fault[] = [
  (proxy) => silent(proxy, "mute", 5_500),
  (proxy) => closed(proxy, 5_500),
];

/**
 * A request with all its responses. If it is `keyed`, it has an Idempotency-Key and is repeated
 * after a `503`.
 */
interface Exchange {
  readonly nonce: string;
  readonly keyed: boolean;
  readonly responses: Answer[];
}

test.for([
  ["two processes", { processes: 2, faults: short, seconds: 9 }],
  ["one process, for longer than a caller waits,", { processes: 1, faults: long, seconds: 5 }],
] as const)(
  "network faults between %s and the database lose, duplicate and misreport no run",
  async ([, faulty], { annotate }) => {
    await annotate(`CRASH_SEED=${seed}`);
    await annotate(await runWithFaults(faulty));
  },
);

/**
 * Sends all kinds of requests during network faults, then compares each response with the database.
 * @returns a summary for the test report.
 */
async function runWithFaults({
  processes,
  faults,
  seconds,
}: {
  processes: number;
  faults: readonly Fault[];
  seconds: number;
}): Promise<string> {
  const random = seeded(seed);
  const proxies = await Promise.all(
    Array.from({ length: processes }, () => startProxy(beckon.db.url)),
  );
  onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
  const servers = await Promise.all(
    proxies.map((proxy) =>
      beckon.another({
        settings: { BECKON_ROLE: "all", DATABASE_URL: proxy.urlFor(beckon.db.url) },
      }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const busy = await startBusyModel(beckon, 5);
  const agents = [
    await beckon.createAgent({ model: busy.model }),
    await beckon.createAgent({ model: busy.model, limits: { max_concurrent_runs: 3 } }),
  ];
  const triggers = await Promise.all(agents.map((agent) => beckon.createTrigger(agent.id)));

  function send(
    index: number,
    nonce: string,
    key: string | undefined,
    fires: boolean,
    at: number,
  ): Promise<Answer> {
    const url = `${servers[at]?.url}/api/public`;
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    if (fires)
      return beckon.call(`${url}/triggers/${triggers[index]?.token}`, {
        credential: null,
        body: nonce,
        headers,
      });
    const { id, token } = agents[index] ?? { id: "", token: "" };
    return beckon.call(`${url}/agents/${id}/invoke`, {
      credential: token,
      body: { input: nonce },
      headers,
    });
  }

  const exchanges: Exchange[] = [];
  let working = true;
  async function work(worker: number): Promise<void> {
    for (let turn = 0; working; turn++) {
      const exchange: Exchange = {
        nonce: `nonce ${worker}-${turn}`,
        keyed: random.chance(0.5),
        responses: [],
      };
      const [index, fires] = [random.below(2), random.chance(0.5)];
      exchanges.push(exchange);
      for (;;) {
        const response = await send(
          index,
          exchange.nonce,
          exchange.keyed ? exchange.nonce : undefined,
          fires,
          random.below(processes),
        );
        exchange.responses.push(response);
        if (!exchange.keyed || response.status !== 503) break;
        await pause(50);
      }
    }
  }

  const workers = Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)));
  for (const began = performance.now(); performance.now() - began < seconds * 1_000; ) {
    for (const fault of random.shuffled(faults)) {
      await pause(200 + random.below(600));
      await Promise.all((random.chance(0.3) ? proxies : [random.pick(proxies)]).map(fault));
    }
  }
  working = false;
  await workers;
  for (const at of servers.keys())
    expect((await send(0, "afterwards", undefined, false, at)).status).toBe(200);

  const runs = await eventually("the end of all runs", () => endedRuns(agents.map(({ id }) => id)));
  const seedText = `CRASH_SEED=${seed}`;
  for (const { nonce, keyed, responses } of exchanges) {
    const started = runs.filter(({ payload }) => payload === nonce);
    const succeeded = started.filter(({ status }) => status === "succeeded").map(({ id }) => id);
    const last = responses.at(-1);
    expect(
      responses
        .filter(({ status }) => status !== 200 && status !== 503)
        .map(({ status, body }) => [status, body]),
      seedText,
    ).toEqual([]);
    expect(succeeded, `${seedText}, ${nonce}, keyed ${keyed}`).toEqual(
      last?.status === 200 ? [last.body.run_id] : [],
    );
    expect(
      started.every(({ status }) => status === "succeeded" || status === "cancelled"),
      seedText,
    ).toBe(true);
    expect(
      busy.inputs.filter((input) => input === nonce).length,
      `${seedText}, model calls of ${nonce}`,
    ).toBe(succeeded.length);
  }
  for (const { attempt, types, seqs } of runs) {
    expect(attempt, seedText).toBe(1);
    expect(seqs, seedText).toEqual(seqs.map((_, index) => index + 1));
    expect(
      types.filter((type) => ["run.finished", "run.failed", "run.cancelled"].includes(type)),
      seedText,
    ).toHaveLength(1);
  }
  const { rows: dead } = await beckon.db.database.engine.query(
    `select from processes where died_at is not null
      and exists (select from runs where owner = processes.id and agent_id = any ($1))`,
    [agents.map(({ id }) => id)],
  );
  expect(dead, seedText).toEqual([]);
  const unavailable = exchanges.reduce(
    (sum, { responses }) => sum + responses.filter(({ status }) => status === 503).length,
    0,
  );
  const cancelled = runs.filter(({ status }) => status === "cancelled").length;
  return `${seedText}: ${exchanges.length} requests, ${runs.length} runs, ${unavailable} responses 503, ${cancelled} runs cancelled`;
}

interface EndedRun {
  readonly id: string;
  readonly payload: string;
  readonly status: string;
  readonly attempt: number;
  readonly types: string[];
  readonly seqs: number[];
}

/** Returns the runs of these agents with their journals; undefined while one has not ended. */
async function endedRuns(agentIds: readonly string[]): Promise<EndedRun[] | undefined> {
  const { rows } = await beckon.db.database.engine.query<EndedRun>(
    `select r.id, i.payload, r.status, r.attempt, array_agg(e.type order by e.seq) as types,
        array_agg(e.seq order by e.seq) as seqs
      from runs r join run_inputs i on i.run_id = r.id join events e on e.run_id = r.id
      where r.agent_id = any ($1) group by r.id, i.payload, r.status, r.attempt`,
    [agentIds],
  );
  return rows.every(({ status }) => status !== "queued" && status !== "running") ? rows : undefined;
}
