import { z } from "zod";
import { parse } from "../../base/parse.ts";
import { cancelRun, getRun, listRunEvents, listRuns } from "../../runs/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const runOf = (request: ManagedRequest) => ({ runId: request.param("run_id") });

/** `after` is the last seq the reader has seen, so that 0 begins at the beginning. */
const eventsQuery = z.object({
  after: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

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
    handle: async (request) => ({ data: await cancelRun({ ctx: request.ctx, input: runOf(request) }) }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/events",
    permission: "runs:read",
    handle: (request) => listRunEvents({ ctx: request.ctx, input: { ...runOf(request), ...parse(eventsQuery, request.query) } }),
  },
];
