import type { Database } from "../src/base/database/index.ts";
import { eventually } from "./eventually.ts";

/** Where requests go: an agent that echoes, and a trigger. */
export interface Target {
  readonly url: string;
  readonly agentId: string;
  readonly agentToken: string;
  readonly triggerUrl: string;
}

/** A request and what came of it. */
export interface Exchange {
  readonly door: "invoke" | "fire";
  /** No two requests have the same. */
  readonly input: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: {
    readonly ok: boolean;
    readonly run_id?: string;
    readonly output?: string;
    readonly code?: string;
  };
}

let sent = 0;

async function send(target: Target, door: Exchange["door"]): Promise<Exchange> {
  const input = `request ${++sent}`;
  const [url, init] =
    door === "invoke"
      ? [
          `${target.url}/api/public/agents/${target.agentId}/invoke`,
          { headers: { "x-api-key": target.agentToken }, body: JSON.stringify({ input }) },
        ]
      : [target.triggerUrl, { headers: { "content-type": "text/plain" }, body: input }];
  const response = await fetch(url, { method: "POST", ...init });
  return {
    door,
    input,
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: (await response.json()) as Exchange["body"],
  };
}

/**
 * Sends requests through both doors, `callers` at a time, each as soon as the one before it is answered, until `disturb` has done its work.
 * @throws when a request gets no answer at all: whatever happens to the database, the server stays.
 */
export async function underLoad(
  target: Target,
  disturb: (exchanges: readonly Exchange[]) => Promise<void>,
  callers = 16,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  let disturbing = true;
  const call = async (caller: number) => {
    while (disturbing) exchanges.push(await send(target, caller % 2 === 0 ? "invoke" : "fire"));
  };
  const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  try {
    await Promise.race([disturb(exchanges), calling]);
  } finally {
    disturbing = false;
  }
  await calling;
  return exchanges;
}

/** Resolves when so many more requests were answered 200. */
export async function answered(exchanges: readonly Exchange[], more: number): Promise<void> {
  const before = exchanges.length;
  await eventually(
    `${more} more answers of 200`,
    () =>
      exchanges.slice(before).filter(({ status }) => status === 200).length >= more || undefined,
  );
}

/** What is neither the right answer nor 503 with Retry-After. */
export function wrong(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges.filter(({ door, input, status, retryAfter, body }) => {
    if (status === 503) return !(body.code === "unavailable" && Number(retryAfter) > 0);
    return !(
      status === 200 &&
      body.run_id?.startsWith("run_") &&
      (door === "fire" || body.output === input)
    );
  });
}

/**
 * Waits until every run has ended, then tells what the promises to callers say against: a run that was acknowledged is lost, or has not
 * succeeded, a request has two, or one that was answered 503 has gone on.
 */
export async function broken(
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
        .map((run) => `${input}: answered ${status}, but ${run.id} ${run.status}`);
    }
    const [run] = runs;
    return runs.length === 1 && run?.id === body.run_id && run?.status === "succeeded"
      ? []
      : [`${input}: answered with ${body.run_id}, but there is ${JSON.stringify(runs)}`];
  });
}
