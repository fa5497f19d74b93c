import {
  auditEntry,
  ceiling,
  eventOnWire,
  key,
  listedRun,
  modelList,
  modelPrice,
  plan,
  planUsage,
  provider,
  providerCheck,
  run,
  runStats,
  streamEvent,
  usageReport,
  workspacePlan,
} from "@beckon/contract";
import type { z } from "zod";
import { agentResources } from "./agent-resources.ts";
import { id, time } from "./example-values.ts";
import { peopleResources } from "./people-resources.ts";
import { subscriptionResources } from "./subscription-resources.ts";
import { triggerResources } from "./trigger-resources.ts";

/**
 * A resource of the OpenAPI document: a kind of object in responses, for example a run. Operations
 * refer to its schema by name (`#/components/schemas/Run`), and `/docs` describes it once.
 */
export interface Resource {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
}

const usage = { input_tokens: 12, output_tokens: 3, cached_input_tokens: 0 };

const amounts = {
  entries: 42,
  input_tokens: 50_400,
  output_tokens: 9_800,
  cached_input_tokens: 12_000,
  cache_write_tokens: 0,
  reasoning_tokens: 2_100,
  voice_ms: 0,
  browser_ms: 0,
  cost_micros: 18_400,
  unknown_cost_entries: 0,
  estimated_entries: 1,
};

const runExample = {
  id: id("run"),
  agent_id: id("agt"),
  agent_version: 1,
  status: "succeeded",
  source: "invoke",
  trigger_id: null,
  retry_of: null,
  external_id: "order-4711",
  tags: ["billing"],
  input: "Hello",
  output: "Hello",
  error: null,
  limit: null,
  usage,
  cost_micros: null,
  attempt: 1,
  created_at: time,
  started_at: time,
  finished_at: time,
};

const runFigures = {
  runs: { waiting: 0, queued: 0, running: 1, succeeded: 40, failed: 2, cancelled: 0 },
  duration_ms: { p50: 840, p95: 3410 },
  usage: { input_tokens: 50_400, output_tokens: 9_800 },
  cost_micros: 18_400,
};

export const resources: readonly Resource[] = [
  ...agentResources,
  ...triggerResources,
  { name: "Run", schema: run, example: runExample },
  {
    name: "ListedRun",
    schema: listedRun,
    example: { ...runExample, input_bytes: 5, output_bytes: 5 },
  },
  {
    name: "RunStats",
    schema: runStats,
    example: {
      created_after: "2026-01-30T09:30:00.000Z",
      created_before: time,
      time_zone: "Europe/Zurich",
      total: runFigures,
      groups: [{ bucket: "2026-01-31T08:00:00.000Z", agent_id: null, ...runFigures }],
    },
  },
  {
    name: "Event",
    schema: eventOnWire,
    example: {
      id: id("evt"),
      run_id: id("run"),
      seq: 3,
      type: "run.finished",
      version: 1,
      time,
      data: { output: "Hello", usage, cost_micros: null },
    },
  },
  {
    name: "StreamEvent",
    schema: streamEvent,
    example: {
      type: "run.output.delta",
      run_id: id("run"),
      data: { step: 1, kind: "text", text: "Hel" },
    },
  },
  {
    name: "Provider",
    schema: provider,
    example: {
      id: id("prv"),
      name: "ollama",
      kind: "openai-compatible",
      origin: "workspace",
      base_url: "http://127.0.0.1:11434/v1",
      api_key_last4: null,
      free: false,
      created_at: time,
      updated_at: time,
    },
  },
  {
    name: "ProviderCheck",
    schema: providerCheck,
    example: { works: true, models: ["qwen3"], error: null },
  },
  {
    name: "ModelList",
    schema: modelList,
    example: {
      provider: "ollama",
      provider_id: "env_ollama",
      origin: "discovered",
      models: ["ollama/qwen3"],
      error: null,
    },
  },
  {
    name: "ModelPrice",
    schema: modelPrice,
    example: {
      id: id("pri"),
      model: "ollama/qwen3",
      provider_id: id("prv"),
      current: {
        origin: "workspace",
        input_micros_per_million: 50_000,
        output_micros_per_million: 200_000,
        cached_input_micros_per_million: null,
        cache_write_micros_per_million: null,
        call_micros: 0,
        tiers: [],
      },
      standard: null,
      created_at: time,
      updated_at: time,
    },
  },
  {
    name: "Ceiling",
    schema: ceiling,
    example: {
      scope: "agent",
      scope_id: id("agt"),
      name: "Support",
      limit_micros: 5_000_000,
      pauses_agent: false,
      spent_micros: 1_250_000,
      reserved_micros: 40_000,
      left_micros: 3_710_000,
      reached: false,
      starts_at: "2026-01-31T00:00:00.000Z",
      resets_at: "2026-02-01T00:00:00.000Z",
      created_at: time,
      updated_at: time,
    },
  },
  {
    name: "Plan",
    schema: plan,
    example: {
      id: id("pln"),
      name: "team",
      origin: "api",
      tokens: 50_000_000,
      voice_ms: null,
      browser_ms: null,
      cost_micros: 100_000_000,
      created_at: time,
      updated_at: time,
    },
  },
  {
    name: "WorkspacePlan",
    schema: workspacePlan,
    example: {
      workspace_id: id("wsp"),
      workspace_name: "Support",
      time_zone: "Europe/Zurich",
      plan: "team",
      next_plan: { plan: "unlimited", starts_at: "2026-02-01T00:00:00.000Z" },
      anchor_day: 1,
    },
  },
  {
    name: "PlanUsage",
    schema: planUsage,
    example: {
      plan: "team",
      next_plan: null,
      anchor_day: 1,
      time_zone: "UTC",
      starts_at: "2026-01-01T00:00:00.000Z",
      resets_at: "2026-02-01T00:00:00.000Z",
      metrics: [
        {
          metric: "tokens",
          allowance: 50_000_000,
          used: 12_400_000,
          unknown_cost_entries: 0,
          reserved: 16_400,
          left: 37_583_600,
          reached: false,
          resets_at: "2026-02-01T00:00:00.000Z",
        },
        {
          metric: "voice",
          allowance: null,
          used: 0,
          unknown_cost_entries: 0,
          reserved: 0,
          left: null,
          reached: false,
          resets_at: "2026-02-01T00:00:00.000Z",
        },
        {
          metric: "browser",
          allowance: null,
          used: 0,
          unknown_cost_entries: 0,
          reserved: 0,
          left: null,
          reached: false,
          resets_at: "2026-02-01T00:00:00.000Z",
        },
        {
          metric: "cost",
          allowance: 100_000_000,
          used: 31_000_000,
          unknown_cost_entries: 0,
          reserved: 40_000,
          left: 68_960_000,
          reached: false,
          resets_at: "2026-02-01T00:00:00.000Z",
        },
      ],
    },
  },
  {
    name: "Key",
    schema: key,
    example: {
      id: id("key"),
      name: "Shop",
      scopes: ["agents:invoke"],
      agent_ids: [id("agt")],
      bootstrap: false,
      created_by: `key:${id("key")}`,
      created_at: time,
      updated_at: time,
      expires_at: "2026-05-01T09:30:00.000Z",
      last_used_at: null,
    },
  },
  {
    name: "UsageReport",
    schema: usageReport,
    example: {
      from: "2026-01-02",
      to: "2026-01-31",
      time_zone: "Europe/Zurich",
      since: "2026-01-12T14:02:11.482Z",
      totals: amounts,
      rows: [{ day: "2026-01-31", ...amounts }],
      next: null,
    },
  },
  {
    name: "AuditEntry",
    schema: auditEntry,
    example: {
      id: id("aud"),
      time,
      actor: `key:${id("key")}`,
      action: "trigger.update",
      target: id("trg"),
      address: "203.0.113.7",
      data: { before: { enabled: true }, after: { enabled: false } },
    },
  },
  ...subscriptionResources,
  ...peopleResources,
];

/** Examples of secrets and of other fields that only some responses have, by their names. */
export const addedExamples: Readonly<Record<string, unknown>> = {
  warnings: [],
  token: "bka_…",
  key: "bkw_…",
  secret: "whsec_…",
  url: "https://beckon.example.com/api/public/triggers/bkt_…",
};
