import {
  agentRunsQuery,
  cancelledRuns,
  cancelRunsBody,
  deletedRuns,
  deleteRunsBody,
  emptyBody,
  eventOnWire,
  eventsQuery,
  retryRunBody,
  run,
  runsQuery,
} from "@beckon/contract";
import {
  cancelRun,
  cancelRuns,
  deleteRun,
  deleteRuns,
  getRun,
  listRunEvents,
  listRuns,
  retryRun,
  startErrors,
  streamRun,
} from "../../runs/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";
import { seqOf } from "../streams/index.ts";

const runOf = (request: ManagedRequest) => ({ runId: request.param("run_id") });

const searching =
  "All filters that are given must hold. created_after is the first moment, created_before the one after the last; error is part of the error's code or message. A page looks at a limited number of runs: it may hold fewer than limit, even none, and yet have a next; the search is over when next is null.";

const selecting =
  "Which ones: a filter as for the search, or all: true. One call changes a limited number; while next is not null, send the same again with it as after.";

export const runRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/runs",
    permission: "runs:read",
    doc: {
      id: "listRuns",
      summary: "Search runs",
      description: searching,
      query: runsQuery,
      data: run,
      list: true,
    },
    handle: ({ ctx, query }) => listRuns({ ctx, input: { agentId: undefined, query } }),
  },
  {
    method: "GET",
    path: "/agents/:agent_id/runs",
    permission: "runs:read",
    doc: {
      id: "listAgentRuns",
      summary: "Search an agent's runs",
      description: searching,
      query: agentRunsQuery,
      data: run,
      list: true,
    },
    handle: ({ ctx, query, param }) =>
      listRuns({ ctx, input: { agentId: param("agent_id"), query } }),
  },
  {
    method: "GET",
    path: "/runs/:run_id",
    permission: "runs:read",
    doc: {
      id: "getRun",
      summary: "Read a run",
      description: "It is over when finished_at is set.",
      data: run,
    },
    handle: async (request) => ({
      data: await getRun({ ctx: request.ctx, input: runOf(request) }),
    }),
  },
  {
    method: "POST",
    path: "/runs/:run_id/cancel",
    permission: "runs:write",
    doc: {
      id: "cancelRun",
      summary: "Cancel a run",
      description:
        "A queued run ends at once, a running one as soon as it can be stopped, a finished one stays as it is.",
      body: emptyBody,
      bodyOptional: true,
      data: run,
    },
    handle: async (request) => ({
      data: await cancelRun({ ctx: request.ctx, input: { ...runOf(request), body: request.body } }),
    }),
  },
  {
    method: "POST",
    path: "/runs/cancel",
    permission: "runs:write",
    doc: {
      id: "cancelRuns",
      summary: "Cancel many runs",
      description: `Each as one by one. Runs that are started after the call, and those that are being cancelled already, are not touched. ${selecting}`,
      body: cancelRunsBody,
      data: cancelledRuns,
      example: { filter: { agent_id: "agt_01jdb8tq5ke5ktbqrs4n1h9m0z", status: ["queued"] } },
    },
    handle: async ({ ctx, body }) => ({ data: await cancelRuns({ ctx, input: { body } }) }),
  },
  {
    method: "POST",
    path: "/runs/:run_id/retry",
    permission: "runs:write",
    doc: {
      id: "retryRun",
      summary: "Retry a run",
      description:
        "Starts a new run with the payload of one that has ended, on the agent as it is now, or with version original as it was then. The new run names the old one as retry_of and keeps its source; it is queued as any other.",
      body: retryRunBody,
      bodyOptional: true,
      data: run,
      created: true,
      once: true,
      errors: startErrors,
      example: { version: "original" },
    },
    handle: async (request) => {
      const { data, replayed } = await retryRun({
        ctx: request.ctx,
        input: { ...runOf(request), body: request.body },
      });
      return { data, replayed, location: `/api/public/runs/${data.id}` };
    },
  },
  {
    method: "DELETE",
    path: "/runs/:run_id",
    permission: "runs:write",
    doc: {
      id: "deleteRun",
      summary: "Delete a run",
      description:
        "With its journal and its files, for good; only when it has ended. A repeat of the request that started it, with its Idempotency-Key, starts nothing.",
      errors: ["conflict"],
    },
    handle: async (request) => {
      await deleteRun({ ctx: request.ctx, input: runOf(request) });
      return {};
    },
  },
  {
    method: "POST",
    path: "/runs/delete",
    permission: "runs:write",
    doc: {
      id: "deleteRuns",
      summary: "Delete many runs",
      description: `Each as one by one; runs that have not ended are not touched. ${selecting}`,
      body: deleteRunsBody,
      data: deletedRuns,
      example: { filter: { status: ["failed"], created_before: "2026-01-31T00:00:00Z" } },
    },
    handle: async ({ ctx, body }) => ({ data: await deleteRuns({ ctx, input: { body } }) }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/events",
    permission: "runs:read",
    doc: {
      id: "listRunEvents",
      summary: "Read a run's journal",
      description: "Oldest first; after is the last seq that was seen.",
      stream:
        "With Accept: text/event-stream: the events there are and, as they come, those to come, until the run's end; between them, without an id, what the model says while it speaks. limit is not taken.",
      query: eventsQuery,
      data: eventOnWire,
      list: true,
    },
    handle: (request) =>
      listRunEvents({ ctx: request.ctx, input: { ...runOf(request), query: request.query } }),
    stream: async ({ lastEventId, ...request }) => {
      const stream = await streamRun({
        ctx: request.ctx,
        input: { ...runOf(request), query: request.query, lastEventId },
      });
      return stream && { events: stream.events, agentIds: [stream.agentId], idOf: seqOf };
    },
  },
];
