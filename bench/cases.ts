import type { Api } from "./api.ts";
import type { Load } from "./load.ts";
import { type Measurement, measure, type Target } from "./measure.ts";
import type { Agent } from "./prepare-agent.ts";

/** What is measured of Beckon: a load, on an agent whose model takes so long. */
export interface Case {
  /** Unique; `--only` searches in it. */
  readonly name: string;
  readonly source: "invoke" | "fire";
  readonly model: Model;
  readonly connections: number;
  /** Measures of this case that `--against` compares; the three of `usual` if absent. */
  readonly measures?: readonly Measure[];
  /**
   * Changes the server over REST before the load, for example sets a limit or starts readers.
   * Returns what undoes it, since the next case runs on the same server.
   */
  readonly prepare?: (prepared: Prepared) => Promise<() => Promise<void>>;
  /**
   * `checkout`: a feature that the commit does not have. `--against` then prepares the checkout
   * alone, and the ratio shows what the feature costs.
   */
  readonly preparedOn?: "checkout";
}

export interface Prepared {
  readonly api: Api;
  readonly port: number;
  /** Has all scopes. */
  readonly key: string;
  readonly agent: Agent;
}

export const models = { instant: { ms: 0 }, slow: { ms: 500 } } as const;
export type Model = keyof typeof models;

export interface Measure {
  readonly name: string;
  readonly digits: number;
  readonly of: (measurement: Measurement) => number;
}

const rate: Measure = {
  name: "requests/s",
  digits: 0,
  of: ({ requests, seconds }) => requests / seconds,
};
const serverCpu: Measure = {
  name: "server CPU ms/request",
  digits: 4,
  of: (one) => (one.serverCpu / one.total) * 1_000,
};
const databaseCpu: Measure = {
  name: "database CPU ms/request",
  digits: 4,
  of: (one) => (one.databaseCpu / one.total) * 1_000,
};
const p50: Measure = { name: "p50 ms", digits: 2, of: (one) => one.p50 };
export const usual: readonly Measure[] = [rate, serverCpu, databaseCpu];

export const cases: readonly Case[] = [
  {
    name: "invoke, instant model, 64 connections",
    source: "invoke",
    model: "instant",
    connections: 64,
  },
  {
    name: "fire, instant model, 64 connections",
    source: "fire",
    model: "instant",
    connections: 64,
  },
  {
    name: "invoke, 500 ms model, 1,000 connections",
    source: "invoke",
    model: "slow",
    connections: 1_000,
  },
  {
    name: "invoke, instant model, 1 connection",
    source: "invoke",
    model: "instant",
    connections: 1,
    measures: [p50, ...usual],
  },
];

export function casesNamed(part: string | undefined): readonly Case[] {
  const found = cases.filter(({ name }) => name.includes(part ?? ""));
  if (found.length === 0)
    throw new Error(
      `No case has "${part}" in its name. The cases are: ${cases.map(({ name }) => name).join("; ")}.`,
    );
  return found;
}

/** Measures a case on a server. `prepares: false` leaves its preparation out. */
export async function measureCase(
  opened: AsyncDisposableStack,
  one: Case,
  {
    target,
    prepared,
    seconds,
    prepares = true,
  }: { target: Target; prepared: Prepared; seconds: number; prepares?: boolean },
): Promise<Measurement> {
  const undo = prepares ? await one.prepare?.(prepared) : undefined;
  try {
    return await measure(opened, target, {
      ...requestOf(one, prepared.agent),
      ...shapeOf(one),
      seconds,
    });
  } finally {
    await undo?.();
  }
}

function requestOf(
  { source }: Case,
  { id, token, triggerPath }: Agent,
): Pick<Load, "path" | "headers"> {
  if (source === "fire") return { path: triggerPath, headers: {} };
  return { path: `/api/public/agents/${id}/invoke`, headers: { "x-api-key": token } };
}

/** The part of a load that does not depend on the server. */
export function shapeOf({
  model,
  connections,
}: Pick<Case, "model" | "connections">): Pick<Load, "connections" | "rampSeconds"> {
  // Callers that began together are out of step after a few answers.
  return { connections, rampSeconds: 1 + models[model].ms / 500 };
}
