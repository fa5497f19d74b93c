import { onTestFinished } from "vitest";
import type { TestBeckon } from "./beckon.ts";
import { echo, startModelServer } from "./model-server.ts";

/** A model that echoes after a while, and counts who is with it. */
export interface BusyModel {
  /** `provider/model`, for an agent. */
  readonly model: string;
  /** Inputs of all calls so far, in order of arrival. */
  readonly inputs: readonly string[];
  /** Calls that were with it at one moment, at most. Set it back to count anew. */
  most: number;
  /** Milliseconds from each answer to the next arrival after it, of those that found `slots` calls there before. */
  idleTimes(slots: number): number[];
}

let made = 0;

/** A model of one test's own that takes `ms` for an answer. The caller has waited for all its runs when the test ends. */
export async function startBusyModel(beckon: TestBeckon, ms: number): Promise<BusyModel> {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const { name } = await beckon.createProvider(server.url, `busy-${++made}`);
  const inputs: string[] = [];
  const arrived: number[] = [];
  const answered: number[] = [];
  let there = 0;
  const busy: BusyModel = {
    model: `${name}/scripted`,
    inputs,
    most: 0,
    // The first `slots` calls come by themselves; each later one takes the place of the earliest that was answered.
    idleTimes: (slots) =>
      arrived.slice(slots).map((time, index) => time - (answered[index] ?? time)),
  };
  server.script(async (request, index) => {
    arrived.push(performance.now());
    inputs.push(request.body.messages.findLast(({ role }) => role === "user")?.content ?? "");
    busy.most = Math.max(busy.most, ++there);
    await new Promise((resolve) => setTimeout(resolve, ms));
    there--;
    answered.push(performance.now());
    return echo()(request, index);
  });
  return busy;
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
