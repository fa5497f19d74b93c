import { cancelRun, getRun, listRunEvents, listRuns } from "../../runs/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const runOf = (request: ManagedRequest) => ({ runId: request.param("run_id") });

export const runRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/runs",
    permission: "runs:read",
    handle: ({ ctx, query }) => listRuns({ ctx, input: { agentId: undefined, query } }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/runs",
    permission: "runs:read",
    handle: ({ ctx, query, param }) => listRuns({ ctx, input: { agentId: param("agent_id"), query } }),
  },
  {
    method: "GET",
    path: "/runs/:run_id",
    permission: "runs:read",
    handle: async (request) => ({ data: await getRun({ ctx: request.ctx, input: runOf(request) }) }),
  },
  {
    method: "POST",
    path: "/runs/:run_id/cancel",
    permission: "runs:write",
    handle: async (request) => ({ data: await cancelRun({ ctx: request.ctx, input: { ...runOf(request), body: request.body } }) }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/events",
    permission: "runs:read",
    handle: (request) => listRunEvents({ ctx: request.ctx, input: { ...runOf(request), query: request.query } }),
  },
];
