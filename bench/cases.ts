import { createHmac } from "node:crypto";
import type { Api } from "./api.ts";
import type { Load } from "./load.ts";
import { type Measurement, measure, requestBody, type Target } from "./measure.ts";
import type { Agent } from "./prepare-agent.ts";
import { run } from "./processes.ts";
import { countReceived, type Receivers } from "./receivers/start-receivers.ts";

/** One benchmark case: a load on an agent whose model has a given latency. */
export interface Case {
  /** Unique name, by which `--only` selects cases. */
  readonly name: string;
  readonly source: "invoke" | "fire";
  readonly model: Model;
  readonly connections: number;
  /** The measures that `--against` compares; by default `defaultMeasures`. */
  readonly measures?: readonly Measure[];
  /**
   * Prepares the server over REST before the load, for example sets a limit or starts readers.
   * Returns a function that undoes the preparation, because the next case uses the same server.
   * Default: no preparation.
   */
  readonly prepare?: (prepared: Prepared) => Promise<() => Promise<void>>;
  /**
   * Whether `--against` prepares the server again for each slice of a measurement. Otherwise it
   * prepares once per pair, so that no slice contains work that undoing a preparation causes, such
   * as ending the pending deliveries of a deleted subscription. Default false.
   */
  readonly preparesSlices?: boolean;
  /**
   * With `checkout`, `--against <commit>` calls `prepare` for the checkout only, so the ratio shows
   * the cost of the feature that `prepare` switches on, and the commit need not have the feature.
   * Default: `prepare` is called for both versions.
   */
  readonly preparedOn?: "checkout";
  /** Additional headers of the requests. Default: none. */
  readonly request?: Pick<Load, "headers" | "uniqueHeader">;
}

export interface Prepared {
  readonly api: Api;
  readonly port: number;
  /** A key with all scopes. */
  readonly key: string;
  readonly agent: Agent;
  readonly receivers: Receivers;
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
const memory: Measure = { name: "memory MiB", digits: 0, of: ({ memoryMiB }) => memoryMiB };
const p50: Measure = { name: "p50 ms", digits: 2, of: (one) => one.p50 };
export const defaultMeasures: readonly Measure[] = [rate, serverCpu, databaseCpu];

const githubSecret = "It's a Secret to Everybody";

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
    name: "fire as GitHub does, with verification, filter and template, 64 connections",
    source: "fire",
    model: "instant",
    connections: 64,
    prepare: receiveAsGithub,
    preparedOn: "checkout",
    request: { headers: headersOfGithub(), uniqueHeader: "x-github-delivery" },
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
    measures: [p50, ...defaultMeasures],
  },
  {
    name: "invoke with two ceilings, instant model, 64 connections",
    source: "invoke",
    model: "instant",
    connections: 64,
    prepare: setCeilings,
    preparedOn: "checkout",
  },
  {
    // Measures the writes of the deliveries' rows. Almost no delivery is sent, because the receiver
    // never responds.
    name: "invoke with a subscription whose receiver hangs, instant model, 64 connections",
    source: "invoke",
    model: "instant",
    connections: 64,
    prepare: (prepared) => subscribe(prepared, "hanging"),
    preparedOn: "checkout",
  },
  {
    name: "invoke with a subscription, instant model, 64 connections",
    source: "invoke",
    model: "instant",
    connections: 64,
    prepare: (prepared) => subscribe(prepared, "fast"),
    preparedOn: "checkout",
  },
  {
    // 100 connections to a model that takes 500 ms are 200 requests a second.
    name: "invoke, 500 ms model, 100 connections, five dashboards",
    source: "invoke",
    model: "slow",
    connections: 100,
    measures: [serverCpu, databaseCpu, memory],
    prepare: openDashboards,
    preparedOn: "checkout",
    // Between the slices, `--against` stops the server with SIGSTOP. If the dashboards stayed open,
    // the requests that they send meanwhile would all arrive in the next slice.
    preparesSlices: true,
  },
];

/**
 * Returns the headers that GitHub sends with an event, except `x-github-delivery`: its value must
 * differ between requests, so the load generator adds it.
 */
function headersOfGithub(): Record<string, string> {
  const signature = createHmac("sha256", githubSecret).update(requestBody).digest("hex");
  return { "x-github-event": "issues", "x-hub-signature-256": `sha256=${signature}` };
}

/** Makes the trigger receive GitHub's events. The returned function restores the default. */
async function receiveAsGithub({ api, agent }: Prepared): Promise<() => Promise<void>> {
  const path = `/agents/${agent.id}/triggers/${agent.triggerId}`;
  const presets = await api<{ name: string; receiving: object }[]>("GET", "/trigger-presets");
  const preset = presets.find(({ name }) => name === "github");
  await api("PATCH", path, {
    receiving: {
      ...preset?.receiving,
      filter: 'event.type == "issues"',
      template: "An event of GitHub, {{ event.type }}: {{ payload.input }}",
    },
  });
  await api("POST", `${path}/secret`, { secret: githubSecret });
  return async () => {
    await api("PATCH", path, { receiving: null });
  };
}

/** Opens five dashboards. The returned function closes them. */
async function openDashboards({ port, key }: Prepared): Promise<() => Promise<void>> {
  const opened = new AsyncDisposableStack();
  await run<"open">(opened, "dashboard/open-dashboards.ts", [
    JSON.stringify({ port, key, count: 5 }),
  ]);
  return () => opened.disposeAsync();
}

/**
 * Subscribes a receiver to the events of runs. The returned function prints the deliveries per
 * second, the backlog and its age, and then deletes the subscription.
 */
async function subscribe(
  { api, receivers }: Prepared,
  receiver: keyof Receivers,
): Promise<() => Promise<void>> {
  const { id } = await api<{ id: string }>("POST", "/subscriptions", {
    url: `http://127.0.0.1:${receivers[receiver].message.port}/`,
    event_types: ["run.started", "run.tool_call", "run.finished", "run.failed", "run.cancelled"],
  });
  const before = await countReceived(receivers[receiver]);
  const start = performance.now();
  return async () => {
    const seconds = (performance.now() - start) / 1_000;
    const rate = ((await countReceived(receivers[receiver])) - before) / seconds;
    const { health } = await api<{ health: { pending: number; next_attempt_at: string | null } }>(
      "GET",
      `/subscriptions/${id}`,
    );
    const next = health.next_attempt_at;
    const ageSeconds = next === null ? 0 : (Date.now() - Date.parse(next)) / 1_000;
    console.error(
      `${receiver} receiver: ${rate.toFixed(0)} deliveries/s, ${health.pending} pending, ` +
        `the oldest due for ${Math.max(0, ageSeconds).toFixed(1)} s`,
    );
    await api("DELETE", `/subscriptions/${id}`);
  };
}

/** Sets a price and two ceilings that are never reached. The returned function removes them. */
async function setCeilings({ api, agent }: Prepared): Promise<() => Promise<void>> {
  const { model } = await api<{ model: string }>("GET", `/agents/${agent.id}`);
  const price = await api<{ id: string }>("POST", "/prices", {
    model,
    input_micros_per_million: 50_000,
    output_micros_per_million: 200_000,
  });
  const [workspace] = await api<{ id: string }[]>("GET", "/workspaces");
  const ceilings = [`/limits/workspace/${workspace?.id}`, `/limits/agent/${agent.id}`];
  for (const path of ceilings) await api("PUT", path, { limit_micros: 1_000_000_000_000 });
  return async () => {
    for (const path of ceilings) await api("DELETE", path);
    await api("DELETE", `/prices/${price.id}`);
  };
}

/**
 * Returns the cases whose names contain one of the texts; all cases if there is no text.
 * @throws Error if no name contains a text.
 */
export function casesNamed(parts: readonly string[] = []): readonly Case[] {
  for (const part of parts) {
    if (cases.some(({ name }) => name.includes(part))) continue;
    throw new Error(
      `No case has "${part}" in its name. ` +
        `The cases are: ${cases.map(({ name }) => name).join("; ")}.`,
    );
  }
  if (parts.length === 0) return cases;
  return cases.filter(({ name }) => parts.some((part) => name.includes(part)));
}

/** Measures a case on a server. With `prepares: false`, `prepare` of the case is not called. */
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
      ...one.request,
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

/** Returns the part of a load that does not depend on the server. */
export function shapeOf({
  model,
  connections,
}: Pick<Case, "model" | "connections">): Pick<Load, "connections" | "rampSeconds"> {
  // All connections send their first requests at the same time. The ramp lasts for a few responses,
  // until the connections send requests at different times.
  return { connections, rampSeconds: 1 + models[model].ms / 500 };
}
