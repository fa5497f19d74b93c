import {
  agent,
  agentVersion,
  agentVersionEntry,
  exportedAgents,
  importedAgents,
  versionComparison,
} from "@beckon/contract";
import { unsetModelSettings } from "../../agents/index.ts";
import { id, time } from "./example-values.ts";
import type { Resource } from "./resource.ts";

const writer = { created_at: time, created_by: `key:${id("key")}` };

const config = {
  name: "Triage",
  description: "",
  instructions: "Sort incoming mail.",
  model: "demo/echo",
  model_settings: { stream: "auto" },
  tools: [],
  limits: {
    max_steps: 20,
    timeout_seconds: 600,
    max_concurrent_runs: null,
    max_queued_runs: 10_000,
    max_attempts: 3,
    max_answer_bytes: 4_194_304,
    max_cost_micros: null,
    reserve_output_tokens: 16_384,
  },
  metadata: {},
};
const triggers = [
  {
    name: "Payments",
    prompt_prefix: "A payment came in:",
    enabled: true,
    allows_callback: false,
    receiving: null,
  },
];
const madeTrigger = {
  id: id("trg"),
  name: "Payments",
  token: "bkt_…",
  url: "https://beckon.example.com/api/public/triggers/bkt_…",
};

/** The entries of `resources` for agents, their versions, exports and imports. */
export const agentResources: readonly Resource[] = [
  {
    name: "Agent",
    schema: agent,
    example: {
      id: id("agt"),
      version: 1,
      ...config,
      provider_id: null,
      paused: false,
      paused_by: null,
      pause_reason: null,
      created_at: time,
      updated_at: time,
    },
  },
  { name: "AgentVersionEntry", schema: agentVersionEntry, example: { version: 2, ...writer } },
  {
    name: "AgentVersion",
    schema: agentVersion,
    example: { agent_id: id("agt"), version: 2, ...writer, ...config, provider_id: null },
  },
  {
    name: "VersionComparison",
    schema: versionComparison,
    example: { from: 1, to: 2, changes: [{ path: "/limits/max_steps", before: 10, after: 20 }] },
  },
  {
    name: "ExportedAgents",
    schema: exportedAgents,
    example: {
      beckon: 1,
      agents: [
        {
          ...config,
          model_settings: { ...unsetModelSettings, ...config.model_settings },
          paused: false,
          pause_reason: null,
          triggers,
        },
      ],
    },
  },
  {
    name: "ImportedAgents",
    schema: importedAgents,
    example: {
      agents: [
        {
          id: id("agt"),
          name: "Triage",
          token: "bka_…",
          triggers: [madeTrigger],
          secrets_needed: ["tools.0.headers.Authorization"],
        },
      ],
    },
  },
];
