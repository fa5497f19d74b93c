import { agentsDocument, exportedAgents, exportQuery, importedAgents } from "@beckon/contract";
import { exportAgent, exportAgents, importAgents } from "../../bundles/index.ts";
import type { ManagedRoute } from "../management/index.ts";
import { agentsFile } from "../management/index.ts";

const contents =
  'The file has all settings, but no ids, tokens or secrets: a tool\'s secret is `{"secret": null}`. It has triggers if the credential has the scope `triggers:read`.';

export const agentsDocumentRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/agents/export",
    permission: "agents:read",
    doc: {
      id: "exportAgents",
      summary: "Export all agents",
      description: `Oldest first. ${contents}`,
      query: exportQuery,
      data: exportedAgents,
      file: true,
    },
    handle: async ({ ctx, query, countStreamed: count }) =>
      agentsFile(await exportAgents({ ctx, input: { query, count } })),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/export",
    permission: "agents:read",
    doc: {
      id: "exportAgent",
      summary: "Export agent",
      description: contents,
      query: exportQuery,
      data: exportedAgents,
      file: true,
    },
    handle: async ({ ctx, param, query, countStreamed: count }) =>
      agentsFile(await exportAgent({ ctx, input: { agentId: param("agent_id"), query, count } })),
  },
  {
    method: "POST",
    path: "/agents/import",
    permission: "agents:write",
    doc: {
      id: "importAgents",
      summary: "Import agents",
      description:
        'Accepts an exported file with at most 500 agents and 1,000 triggers. Creates all of them or none, always as new agents; the response has their tokens. Models are found by the provider\'s name in this workspace. Replace `{"secret": null}` by a secret; a tool without its secret fails until it gets one. A file with triggers also needs the scope `triggers:write`.',
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
      return { data: { agents }, replayed };
    },
  },
];
