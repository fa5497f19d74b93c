import {
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  pauseAgent,
  resumeAgent,
  revealAgentToken,
  revokeAgentToken,
  rotateAgentToken,
  updateAgent,
} from "../../agents/index.ts";
import { restoreAgent } from "../../triggers/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const withBody = (request: ManagedRequest) => ({ ...agentOf(request), body: request.body });
const versioned = <T extends { version: number }>(agent: T) => ({ data: agent, etag: String(agent.version) });

export const agentRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/agents",
    permission: "agents:write",
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createAgent({ ctx, input: { body } });
      return { ...versioned(data), replayed, secret: true, location: `/api/public/agents/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/agents",
    permission: "agents:read",
    handle: ({ ctx, query }) => listAgents({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id",
    permission: "agents:read",
    handle: async (request) => versioned(await getAgent({ ctx: request.ctx, input: agentOf(request) })),
  },
  {
    method: "PATCH",
    path: "/agents/:agent_id",
    permission: "agents:write",
    handle: async (request) => versioned(await updateAgent({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id",
    permission: "agents:write",
    handle: async (request) => {
      await deleteAgent({ ctx: request.ctx, input: agentOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: "/agents/:agent_id/restore",
    permission: "agents:write",
    handle: (request) => restoreAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/pause",
    permission: "agents:write",
    handle: (request) => pauseAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/resume",
    permission: "agents:write",
    handle: (request) => resumeAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/token/rotate",
    permission: "agents:write",
    handle: async (request) => ({ ...(await rotateAgentToken({ ctx: request.ctx, input: withBody(request) })), secret: true }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    handle: async (request) => ({ data: await revealAgentToken({ ctx: request.ctx, input: agentOf(request) }), secret: true }),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    handle: async (request) => {
      await revokeAgentToken({ ctx: request.ctx, input: agentOf(request) });
      return {};
    },
  },
];
