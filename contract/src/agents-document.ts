import { z } from "zod";
import { createAgentBody, modelSettings, pauseAgentBody, updateAgentBody } from "./agents.ts";
import { boundedList } from "./bounded.ts";
import { toolsInDocument } from "./tools.ts";
import { createTriggerBody } from "./triggers.ts";

/** Version of the export format. Increase it for changes that older servers would misread. */
const formatVersion = 1;
const maxAgents = 500;
const maxTriggers = 1_000;

/**
 * An exported agent: all settings and triggers, but nothing specific to one installation (ids,
 * tokens, secrets, times). `model` refers to the provider by its name. A model setting that is not
 * set is null, so that a file can also be used to unset it.
 */
const agentInDocument = createAgentBody
  .extend({
    model_settings: updateAgentBody.shape.model_settings
      .unwrap()
      .extend({ stream: modelSettings.shape.stream })
      .prefault({}),
    tools: toolsInDocument.default([]),
    paused: z.boolean().default(false),
    pause_reason: pauseAgentBody.shape.reason.unwrap().nullable().default(null),
    triggers: boundedList(createTriggerBody).default([]),
  })
  .refine(({ paused, pause_reason }) => paused || pause_reason === null, {
    path: ["pause_reason"],
    error: "must be null for an agent that is not paused",
  });
export type AgentInDocument = z.infer<typeof agentInDocument>;

/** Body of `POST /agents/import`, as JSON or YAML. The response of an export is a valid body. */
export const agentsDocument = z
  .strictObject({
    beckon: z.literal(formatVersion, {
      error: `must be ${formatVersion}, the only format version that this server can read`,
    }),
    agents: boundedList(agentInDocument).max(maxAgents),
  })
  .refine(
    ({ agents }) => agents.reduce((sum, { triggers }) => sum + triggers.length, 0) <= maxTriggers,
    {
      path: ["agents"],
      error: `must have at most ${maxTriggers.toLocaleString("en")} triggers in total`,
    },
  );

/** Response of an export. `triggers` is absent if the caller lacks the scope `triggers:read`. */
export const exportedAgents = z.object({
  beckon: z.literal(formatVersion),
  agents: z.array(
    z.object({
      ...agentInDocument.shape,
      triggers: agentInDocument.shape.triggers.unwrap().optional(),
    }),
  ),
});
export type ExportedAgent = z.infer<typeof exportedAgents>["agents"][number];

/** Query of `GET /agents/export` and `GET /agents/:agent_id/export`. */
export const exportQuery = z.strictObject({ format: z.enum(["json", "yaml"]).default("json") });

/** Response of an import: the created agents in document order, with their tokens. */
export const importedAgents = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      token: z.string(),
      triggers: z.array(
        z.object({ id: z.string(), name: z.string(), token: z.string(), url: z.string() }),
      ),
      /**
       * Dotted paths, relative to the agent, of secrets that the imported document did not
       * contain, for example `tools.0.headers.Authorization`. Calls of that tool fail until the
       * secret is set. `triggers.0.secret` is the sender's secret of a trigger, which rejects all
       * requests until it is set.
       */
      secrets_needed: z.array(z.string()),
    }),
  ),
});
