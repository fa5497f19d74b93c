import {
  type DeliveredEvent,
  eventVersion,
  type NewEvent,
  type NewWorkspaceEvent,
} from "@beckon/contract";
import { deliveryBody } from "../deliveries/index.ts";

const id = (prefix: string) => `${prefix}_01jdb8tq5ke5ktbqrs4n1h9m0z`;
const usage = { input_tokens: 1_204, output_tokens: 86, cached_input_tokens: 0 };
const agent = { agent_id: id("agt"), run_id: null, seq: null };
const run = { agent_id: id("agt"), run_id: id("run") };

/** An example of an event that can be delivered. */
export interface ExampleEvent {
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly seq: number | null;
  readonly data: (NewEvent | NewWorkspaceEvent)["data"];
}

type Examples = {
  readonly [T in DeliveredEvent]: ExampleEvent & {
    readonly data: Extract<NewEvent | NewWorkspaceEvent, { type: T }>["data"];
  };
};

/** The examples in the documentation, which are also the data of test events. */
export const exampleEvents: Examples = {
  "run.started": { ...run, seq: 1, data: {} },
  "run.tool_call": {
    ...run,
    seq: 3,
    data: {
      step: 1,
      call_id: "call_1",
      tool: "shop_read_order",
      arguments: { order: 4711 },
      idempotency_key: `${id("run")}:call_1`,
    },
  },
  "run.finished": {
    ...run,
    seq: 6,
    data: { output: "Order 4711 was shipped on Friday.", usage, cost_micros: 1_840 },
  },
  "run.failed": {
    ...run,
    seq: 4,
    data: {
      error: { code: "model_timeout", message: "The model did not finish its answer in time." },
      usage,
      cost_micros: 1_840,
    },
  },
  "run.cancelled": {
    ...run,
    seq: 4,
    data: {
      error: { code: "cancelled", message: "The run was cancelled." },
      usage,
      cost_micros: 1_840,
    },
  },
  "usage.threshold": {
    ...agent,
    data: {
      scope: "agent",
      scope_id: id("agt"),
      metric: "cost",
      used: 4_010_000,
      limit: 5_000_000,
      percent: 80,
      resets_at: "2026-02-01T00:00:00.000Z",
    },
  },
  "agent.paused": {
    ...agent,
    data: { reason: "Maintenance", actor: `user:${id("usr")}` },
  },
  "agent.resumed": { ...agent, data: { actor: `user:${id("usr")}` } },
  "subscription.disabled": {
    agent_id: null,
    run_id: null,
    seq: null,
    data: {
      subscription_id: id("sub"),
      url: "https://example.com/beckon-events",
      reason: "failing",
    },
  },
};

/** Returns the body of a delivery of an example, as the sender makes it. */
export function exampleBody(
  type: DeliveredEvent,
  options: Parameters<typeof deliveryBody>[1],
): unknown {
  const { data, ...ids } = exampleEvents[type];
  const row = {
    ...ids,
    kind: "event" as const,
    workspace_id: id("wsp"),
    subscription_id: id("sub"),
    event_id: id("evt"),
    type,
    version: eventVersion,
    time: new Date("2026-01-31T09:30:00.000Z"),
    data,
  };
  return JSON.parse(deliveryBody(row, options).text);
}
