import type { Database } from "../src/base/database/index.ts";
import { eventually } from "./eventually.ts";

/** Target of the requests: an agent whose output is its input, and its trigger. */
export interface Target {
  readonly url: string;
  readonly agentId: string;
  readonly agentToken: string;
  readonly triggerUrl: string;
}

/** A request and its response. */
export interface Exchange {
  readonly source: "invoke" | "fire";
  /** Unique. */
  readonly input: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: {
    readonly ok: boolean;
    readonly run_id?: string;
    readonly output?: string;
    readonly code?: string;
    readonly error?: string;
  };
}

let sent = 0;

async function send(target: Target, source: Exchange["source"]): Promise<Exchange> {
  const input = `request ${++sent}`;
  const [url, init] =
    source === "invoke"
      ? [
          `${target.url}/api/public/agents/${target.agentId}/invoke`,
          { headers: { "x-api-key": target.agentToken }, body: JSON.stringify({ input }) },
        ]
      : [target.triggerUrl, { headers: { "content-type": "text/plain" }, body: input }];
  const response = await fetch(url, { method: "POST", ...init });
  return {
    source,
    input,
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: (await response.json()) as Exchange["body"],
  };
}

/**
 * Invokes the agent and fires its trigger until `disrupt` resolves. There are `callers` concurrent
 * callers. Each sends its next request as soon as it has the response to the previous one.
 *
 * @throws if a request gets no response: the server must survive every failure of the database.
 */
export async function underLoad(
  target: Target,
  disrupt: (exchanges: readonly Exchange[]) => Promise<void>,
  callers = 16,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  let isDisrupting = true;
  const call = async (caller: number) => {
    while (isDisrupting) exchanges.push(await send(target, caller % 2 === 0 ? "invoke" : "fire"));
  };
  const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  try {
    await Promise.race([disrupt(exchanges), calling]);
  } finally {
    isDisrupting = false;
  }
  await calling;
  return exchanges;
}

/** Waits until `exchanges`, to which the load adds, has `more` new responses with status 200. */
export async function answered(exchanges: readonly Exchange[], more: number): Promise<void> {
  const before = exchanges.length;
  await eventually(
    `${more} more answers of 200`,
    () =>
      exchanges.slice(before).filter(({ status }) => status === 200).length >= more || undefined,
  );
}

/**
 * Returns the exchanges whose response is neither a correct 200 nor a correct 503. A 503 must have
 * `Retry-After`, but not if it says that the run may have been started: the requests have no
 * Idempotency-Key, so a retry could start a second run.
 */
export function wrong(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges.filter(({ source, input, status, retryAfter, body }) => {
    if (status === 503) {
      const isUnconfirmed = body.error?.includes("may have been started") === true;
      return !(body.code === "unavailable" && Number(retryAfter) > 0 !== isUnconfirmed);
    }
    return !(
      status === 200 &&
      body.run_id?.startsWith("run_") &&
      (source === "fire" || body.output === input)
    );
  });
}

/**
 * Waits until every run has ended, then returns the broken guarantees: an acknowledged run is lost
 * or did not succeed, a request has two runs, or a request that got a 503 has a run that was not
 * cancelled.
 */
export async function brokenGuarantees(
  database: Database,
  exchanges: readonly Exchange[],
): Promise<string[]> {
  await eventually("an end of every run", async () => {
    const { rows } = await database.engine.query(
      "select from runs where finished_at is null limit 1",
    );
    return rows.length === 0 || undefined;
  });
  const { rows } = await database.engine.query<{ id: string; status: string; payload: string }>(
    "select r.id, r.status, i.payload from runs r join run_inputs i on i.run_id = r.id",
  );
  return exchanges.flatMap(({ input, status, body }) => {
    const runs = rows.filter((row) => row.payload === input);
    if (status !== 200) {
      return runs
        .filter((run) => run.status !== "cancelled")
        .map((run) => `${input}: got ${status}, but ${run.id} ${run.status}`);
    }
    const [run] = runs;
    return runs.length === 1 && run?.id === body.run_id && run?.status === "succeeded"
      ? []
      : [`${input}: got ${body.run_id}, but there is ${JSON.stringify(runs)}`];
  });
}
