import {
  agent,
  agentsQuery,
  createAgentBody,
  duplicateAgentBody,
  emptyBody,
  pauseAgentBody,
  rotateBody,
  updateAgentBody,
} from "@beckon/contract";
import { z } from "zod";
import {
  createAgent,
  deleteAgent,
  duplicateAgent,
  getAgent,
  listAgents,
  pauseAgent,
  resumeAgent,
  revealAgentToken,
  revokeAgentToken,
  rotateAgentToken,
  updateAgent,
} from "../../agents/index.ts";
import { restoreAgent } from "../../bundles/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const withBody = (request: ManagedRequest) => ({ ...agentOf(request), body: request.body });
const versioned = <T extends { version: number }>(agent: T) => ({
  data: agent,
  etag: String(agent.version),
});

const tokenShown = z.object({ token: z.string() });

export const agentRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/agents",
    permission: "agents:write",
    doc: {
      id: "createAgent",
      summary: "Add an agent",
      description: "The token in the answer invokes the agent; it can be revealed again.",
      body: createAgentBody,
      data: agent,
      also: tokenShown,
      created: true,
      once: true,
      example: { name: "Triage", model: "demo/echo", instructions: "Sort incoming mail." },
    },
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createAgent({ ctx, input: { body } });
      return {
        ...versioned(data),
        replayed,
        secret: true,
        location: `/api/public/agents/${data.id}`,
      };
    },
  },
  {
    method: "GET",
    path: "/agents",
    permission: "agents:read",
    doc: {
      id: "listAgents",
      summary: "List and search agents",
      description:
        "`search` is part of the name or the description, in any case; `model` is whole; `deleted=true` lists the deleted ones that can be restored. Filters that are given apply together.",
      query: agentsQuery,
      data: agent,
      list: true,
    },
    handle: ({ ctx, query }) => listAgents({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id",
    permission: "agents:read",
    doc: { id: "getAgent", summary: "Read an agent", data: agent },
    handle: async (request) =>
      versioned(await getAgent({ ctx: request.ctx, input: agentOf(request) })),
  },
  {
    method: "PATCH",
    path: "/agents/:agent_id",
    permission: "agents:write",
    doc: {
      id: "updateAgent",
      summary: "Change an agent",
      description: "Writes the agent's next version; runs that have started keep theirs.",
      body: updateAgentBody,
      data: agent,
      ifMatch: true,
      example: { instructions: "Sort incoming mail. Answer with one word." },
    },
    handle: async (request) =>
      versioned(await updateAgent({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id",
    permission: "agents:write",
    doc: {
      id: "deleteAgent",
      summary: "Delete an agent",
      description:
        "Its token and triggers stop at once; accepted runs go on and stay readable. It can be restored for 30 days.",
      ifMatch: true,
    },
    handle: async (request) => {
      await deleteAgent({ ctx: request.ctx, input: agentOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: "/agents/:agent_id/restore",
    permission: "agents:write",
    doc: {
      id: "restoreAgent",
      summary: "Bring a deleted agent back",
      description:
        "Within 30 days of its deletion. It comes back without a token and with its triggers disabled.",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
    },
    handle: (request) => restoreAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/duplicate",
    permission: "agents:write",
    doc: {
      id: "duplicateAgent",
      summary: "Make another agent like this one",
      description:
        "A new agent with what the current version holds, copies of its tools' secrets included, and a token of its own. It has no triggers and is not paused.",
      body: duplicateAgentBody,
      bodyOptional: true,
      data: agent,
      also: tokenShown,
      created: true,
      once: true,
      example: { name: "Triage for Berlin" },
    },
    handle: async (request) => {
      const { data, replayed } = await duplicateAgent({
        ctx: request.ctx,
        input: withBody(request),
      });
      return {
        ...versioned(data),
        replayed,
        secret: true,
        location: `/api/public/agents/${data.id}`,
      };
    },
  },
  {
    method: "POST",
    path: "/agents/:agent_id/pause",
    permission: "agents:write",
    doc: {
      id: "pauseAgent",
      summary: "Refuse new runs of an agent",
      body: pauseAgentBody,
      bodyOptional: true,
      data: agent,
      once: true,
      example: { reason: "Holiday" },
    },
    handle: (request) => pauseAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/resume",
    permission: "agents:write",
    doc: {
      id: "resumeAgent",
      summary: "Let a paused agent start runs again",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
    },
    handle: (request) => resumeAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/token/rotate",
    permission: "agents:write",
    doc: {
      id: "rotateAgentToken",
      summary: "Issue a new token",
      description: "The one before works for grace_seconds more, by default not at all.",
      body: rotateBody,
      bodyOptional: true,
      data: tokenShown,
      once: true,
      example: { grace_seconds: 3600 },
    },
    handle: async (request) => ({
      ...(await rotateAgentToken({ ctx: request.ctx, input: withBody(request) })),
      secret: true,
    }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    doc: {
      id: "revealAgentToken",
      summary: "Show the token",
      description: "The reveal is on record.",
      data: tokenShown,
      errors: ["secret_unreadable"],
    },
    handle: async (request) => ({
      data: await revealAgentToken({ ctx: request.ctx, input: agentOf(request) }),
      secret: true,
    }),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    doc: { id: "revokeAgentToken", summary: "Revoke the token" },
    handle: async (request) => {
      await revokeAgentToken({ ctx: request.ctx, input: agentOf(request) });
      return {};
    },
  },
];
