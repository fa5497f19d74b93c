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
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const agentOf = (request: ManagedRequest) => ({ agentId: request.param("agent_id") });
const withBody = (request: ManagedRequest) => ({ ...agentOf(request), body: request.body });

const tokenShown = z.object({ token: z.string() });

export const agentRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/agents",
    permission: "agents:write",
    doc: {
      id: "createAgent",
      summary: "Create agent",
      description: "The token in the response invokes the agent. It can be revealed later.",
      body: createAgentBody,
      data: agent,
      also: tokenShown,
      created: "/agents/:id",
      once: true,
      etag: true,
      example: { name: "Triage", model: "demo/echo", instructions: "Sort incoming mail." },
    },
    handle: ({ ctx, body }) => createAgent({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/agents",
    permission: "agents:read",
    doc: {
      id: "listAgents",
      summary: "List agents",
      description:
        "All filters apply together. `search` matches part of the name or the description, ignoring case; `model` matches the whole name. `deleted=true` lists deleted agents that can be restored. `view=summary` is for lists of names: whole agents can be large.",
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
    doc: { id: "getAgent", summary: "Get agent", data: agent, etag: true },
    handle: (request) => dataOf(getAgent({ ctx: request.ctx, input: agentOf(request) })),
  },
  {
    method: "PATCH",
    path: "/agents/:agent_id",
    permission: "agents:write",
    doc: {
      id: "updateAgent",
      summary: "Update agent",
      description:
        "Creates the agent's next version, or none if nothing changes. Runs that have started keep theirs.",
      body: updateAgentBody,
      data: agent,
      ifMatch: true,
      etag: true,
      example: { instructions: "Sort incoming mail. Answer with one word." },
    },
    handle: (request) => dataOf(updateAgent({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id",
    permission: "agents:write",
    doc: {
      id: "deleteAgent",
      summary: "Delete agent",
      description:
        "Its token and triggers stop at once. Accepted runs continue and stay readable. Runs that are held while the agent is paused stay held: to execute them, restore and resume the agent. The agent can be restored for 30 days.",
      ifMatch: true,
    },
    handle: (request) => deleteAgent({ ctx: request.ctx, input: agentOf(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/restore",
    permission: "agents:write",
    doc: {
      id: "restoreAgent",
      summary: "Restore agent",
      description:
        "Restores an agent within 30 days of its deletion, without a token and with its triggers disabled. Their `when_disabled` becomes `refuse`, so that no event is swallowed.",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
      etag: true,
    },
    handle: (request) => restoreAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/duplicate",
    permission: "agents:write",
    doc: {
      id: "duplicateAgent",
      summary: "Duplicate agent",
      description:
        "Creates an agent with the configuration of the current version, including copies of its tools' secrets, and a token of its own. The new agent has no triggers and is not paused.",
      body: duplicateAgentBody,
      bodyOptional: true,
      data: agent,
      also: tokenShown,
      created: "/agents/:id",
      once: true,
      etag: true,
      example: { name: "Triage for Berlin" },
    },
    handle: (request) =>
      duplicateAgent({
        ctx: request.ctx,
        input: withBody(request),
      }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/pause",
    permission: "agents:write",
    doc: {
      id: "pauseAgent",
      summary: "Pause agent",
      description:
        "Rejects new runs with 409 `agent_paused`, and holds those of triggers with `when_paused: hold` until the agent is resumed. Accepted runs continue.",
      body: pauseAgentBody,
      bodyOptional: true,
      data: agent,
      once: true,
      etag: true,
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
      summary: "Resume agent",
      description: "Accepts new runs again.",
      body: emptyBody,
      bodyOptional: true,
      data: agent,
      once: true,
      etag: true,
    },
    handle: (request) => resumeAgent({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/token/rotate",
    permission: "agents:write",
    doc: {
      id: "rotateAgentToken",
      summary: "Rotate agent token",
      description:
        "Issues a new token. The previous one stays valid for `grace_seconds`, 0 by default. A token that an earlier rotation replaced stops at once, even in its grace period.",
      body: rotateBody,
      bodyOptional: true,
      data: tokenShown,
      once: true,
      example: { grace_seconds: 3600 },
    },
    handle: (request) => rotateAgentToken({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    recorded: true,
    doc: {
      id: "revealAgentToken",
      summary: "Reveal agent token",
      description: "The audit log records the reveal.",
      data: tokenShown,
      errors: ["secret_unreadable"],
    },
    handle: (request) => dataOf(revealAgentToken({ ctx: request.ctx, input: agentOf(request) })),
  },
  {
    method: "DELETE",
    path: "/agents/:agent_id/token",
    permission: "agents:write",
    doc: {
      id: "revokeAgentToken",
      summary: "Revoke agent token",
      description: "The token stops at once. Rotate to issue a new one.",
    },
    handle: (request) => revokeAgentToken({ ctx: request.ctx, input: agentOf(request) }),
  },
];
