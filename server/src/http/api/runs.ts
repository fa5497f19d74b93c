import { emptyBody, eventOnWire, eventsQuery, pageQuery, run } from "@beckon/contract";
import { cancelRun, getRun, listRunEvents, listRuns } from "../../runs/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const runOf = (request: ManagedRequest) => ({ runId: request.param("run_id") });

export const runRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/runs",
    permission: "runs:read",
    doc: { id: "listRuns", summary: "List runs", query: pageQuery, data: run, list: true },
    handle: ({ ctx, query }) => listRuns({ ctx, input: { agentId: undefined, query } }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/runs",
    permission: "runs:read",
    doc: { id: "listAgentRuns", summary: "List an agent's runs", query: pageQuery, data: run, list: true },
    handle: ({ ctx, query, param }) => listRuns({ ctx, input: { agentId: param("agent_id"), query } }),
  },
  {
    method: "GET",
    path: "/runs/:run_id",
    permission: "runs:read",
    doc: { id: "getRun", summary: "Read a run", description: "It is over when finished_at is set.", data: run },
    handle: async (request) => ({ data: await getRun({ ctx: request.ctx, input: runOf(request) }) }),
  },
  {
    method: "POST",
    path: "/runs/:run_id/cancel",
    permission: "runs:write",
    doc: {
      id: "cancelRun",
      summary: "Cancel a run",
      description: "A queued run ends at once, a running one as soon as it can be stopped, a finished one stays as it is.",
      body: emptyBody,
      bodyOptional: true,
      data: run,
    },
    handle: async (request) => ({ data: await cancelRun({ ctx: request.ctx, input: { ...runOf(request), body: request.body } }) }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/events",
    permission: "runs:read",
    doc: {
      id: "listRunEvents",
      summary: "Read a run's journal",
      description: "Oldest first; after is the last seq that was seen.",
      query: eventsQuery,
      data: eventOnWire,
      list: true,
    },
    handle: (request) => listRunEvents({ ctx: request.ctx, input: { ...runOf(request), query: request.query } }),
  },
];
