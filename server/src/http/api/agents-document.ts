import { agentsDocument, exportedAgents, exportQuery, importedAgents } from "@beckon/contract";
import { exportAgent, exportAgents, importAgents } from "../../bundles/index.ts";
import type { ManagedRoute } from "../management/index.ts";
import { agentsFile } from "../management/index.ts";

const inIt =
  'With all settings, without ids, tokens and secrets: where a tool has a secret, `{"secret": null}` stands. Triggers are in it for a credential that may read them (`triggers:read`).';

export const agentsDocumentRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/agents/export",
    permission: "agents:read",
    doc: {
      id: "exportAgents",
      summary: "Export all agents",
      description: `The oldest first. ${inIt}`,
      query: exportQuery,
      data: exportedAgents,
      file: true,
    },
    handle: async ({ ctx, query }) => agentsFile(await exportAgents({ ctx, input: { query } })),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/export",
    permission: "agents:read",
    doc: {
      id: "exportAgent",
      summary: "Export an agent",
      description: inIt,
      query: exportQuery,
      data: exportedAgents,
      file: true,
    },
    handle: async ({ ctx, param, query }) =>
      agentsFile(await exportAgent({ ctx, input: { agentId: param("agent_id"), query } })),
  },
  {
    method: "POST",
    path: "/agents/import",
    permission: "agents:write",
    doc: {
      id: "importAgents",
      summary: "Import agents",
      description:
        'Takes what an export gives, up to 500 agents with 1,000 triggers; all are made, or none. They are new agents whatever there is already, with tokens that the answer shows. A model is looked up by its provider\'s name here. `{"secret": null}` may be filled in; a tool whose secret is missing fails until one is given. A document with triggers needs the scope `triggers:write` too.',
      body: agentsDocument,
      yaml: true,
      data: importedAgents,
      once: true,
      example: {
        beckon: 1,
        agents: [
          {
            name: "Triage",
            model: "demo/echo",
            instructions: "Sort incoming mail.",
            triggers: [{ name: "Payments", prompt_prefix: "A payment came in:" }],
          },
        ],
      },
    },
    handle: async ({ ctx, body, publicUrl }) => {
      const { data, replayed } = await importAgents({ ctx, input: { body } });
      const agents = data.agents.map(({ triggers, ...rest }) => ({
        ...rest,
        triggers: triggers.map((trigger) => ({
          ...trigger,
          url: `${publicUrl}/api/public/triggers/${trigger.token}`,
        })),
      }));
      return { data: { agents }, replayed, secret: true };
    },
  },
];
