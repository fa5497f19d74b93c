import { z } from "zod";
import { createAgentBody, pauseAgentBody } from "./agents.ts";
import { toolsInDocument } from "./tools.ts";
import { createTriggerBody } from "./triggers.ts";

/** The form in which agents leave one installation and come to another. A change that old readers would misread gets the next number. */
const formatVersion = 1;
const maxAgents = 500;
const maxTriggers = 1_000;

/**
 * An agent with all its settings and its triggers, and nothing that belongs to one installation: no id, token, secret or time. Its model
 * names the provider by the provider's name.
 */
const agentInDocument = createAgentBody
  .extend({
    tools: toolsInDocument.default([]),
    paused: z.boolean().default(false),
    pause_reason: pauseAgentBody.shape.reason.unwrap().nullable().default(null),
    triggers: z.array(createTriggerBody).default([]),
  })
  .refine(({ paused, pause_reason }) => paused || pause_reason === null, {
    path: ["pause_reason"],
    error: "must be null for an agent that is not paused",
  });
export type AgentInDocument = z.infer<typeof agentInDocument>;

/** What `GET /agents/export` answers and `POST /agents/import` takes, in JSON or YAML. */
export const agentsDocument = z
  .strictObject({
    beckon: z.literal(formatVersion, {
      error: `must be ${formatVersion}: the version of the form, the only one that this server reads`,
    }),
    agents: z.array(agentInDocument).max(maxAgents),
  })
  .refine(
    ({ agents }) => agents.reduce((sum, { triggers }) => sum + triggers.length, 0) <= maxTriggers,
    {
      path: ["agents"],
      error: `must have at most ${maxTriggers.toLocaleString("en")} triggers in all`,
    },
  );

/** As an export may look to a reader: nobody's key need be allowed to see triggers. */
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

/** Query of both exports. */
export const exportQuery = z.strictObject({ format: z.enum(["json", "yaml"]).default("json") });

/** Answer of the import: who was made, in the document's order. The tokens are shown here only; each can be revealed again. */
export const importedAgents = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      token: z.string(),
      triggers: z.array(
        z.object({ id: z.string(), name: z.string(), token: z.string(), url: z.string() }),
      ),
      /** Where in the agent a secret is missing, for example `tools.0.headers.Authorization`: its tool fails until one is given. */
      secrets_needed: z.array(z.string()),
    }),
  ),
});
