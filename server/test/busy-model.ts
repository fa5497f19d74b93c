import { onTestFinished } from "vitest";
import type { TestBeckon } from "./beckon.ts";
import { echo, startModelServer } from "./model-server.ts";

/** A model that echoes after a delay and counts concurrent calls. */
export interface BusyModel {
  /** `provider/model`, for an agent. */
  readonly model: string;
  /** Inputs of all calls so far, in order of arrival. */
  readonly inputs: readonly string[];
  /** Maximum concurrent calls so far. Can be reset. */
  maxConcurrent: number;
  /**
   * Returns how long slots were idle, in milliseconds, in a test in which at most `slots` runs are
   * executed at the same time. Each call after the first `slots` calls has one entry: the time from
   * the answer that freed a slot to the arrival of the call.
   */
  idleTimes(slots: number): number[];
}

let count = 0;

/**
 * Starts a model for one test that answers after `ms` milliseconds. The test must wait for all its
 * runs, because the model stops when the test ends.
 */
export async function startBusyModel(beckon: TestBeckon, ms: number): Promise<BusyModel> {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const { name } = await beckon.createProvider(server.url, `busy-${++count}`);
  const inputs: string[] = [];
  const arrived: number[] = [];
  const answered: number[] = [];
  let inFlight = 0;
  const busy: BusyModel = {
    model: `${name}/scripted`,
    inputs,
    maxConcurrent: 0,
    // The first `slots` calls fill the slots. The first answer frees a slot for the next call, the
    // second answer for the call after that, and so on.
    idleTimes: (slots) =>
      arrived.slice(slots).map((time, index) => time - (answered[index] ?? time)),
  };
  server.script(async (request, index) => {
    arrived.push(performance.now());
    inputs.push(request.body.messages.findLast(({ role }) => role === "user")?.content ?? "");
    busy.maxConcurrent = Math.max(busy.maxConcurrent, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, ms));
    inFlight--;
    answered.push(performance.now());
    return echo()(request, index);
  });
  return busy;
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
