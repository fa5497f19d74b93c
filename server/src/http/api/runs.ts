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
  "All filters apply together. `created_after` is inclusive, `created_before` exclusive; `error` matches part of the error's code or message. Each page searches a limited number of runs: it can hold fewer than `limit`, even none, and still have a `next`. The search is complete when `next` is null.";

const selecting =
  "Select the runs by a `filter` as in a list, or by `all: true`. One request changes a limited number: while `next` is not null, repeat it with `next` as `after`.";

export const runRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/runs",
    permission: "runs:read",
    doc: {
      id: "listRuns",
      summary: "List runs",
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
      summary: "List agent runs",
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
      summary: "Get run",
      description: "A run has ended when `finished_at` is set.",
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
      summary: "Cancel run",
      description:
        "A queued run ends at once, a running one as soon as it can be stopped. A run that has ended is not changed.",
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
      summary: "Cancel runs in bulk",
      description: `Cancels each run like the single operation. Runs that start after the request, or are being cancelled, are not changed. ${selecting}`,
      body: cancelRunsBody,
      data: cancelledRuns,
      dataExample: { cancelled: 12, next: null },
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
      summary: "Retry run",
      description:
        "Starts a new run with the payload of a run that has ended, on the agent's current version or, with `version: original`, on the version of that run. The new run has `retry_of` and the same `source`.",
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
      summary: "Delete run",
      description:
        "Deletes a run that has ended, with its journal and files. A repeat of the request that started it, with the same Idempotency-Key, still starts nothing.",
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
      summary: "Delete runs in bulk",
      description: `Deletes each run like the single operation. Runs that have not ended are not changed. ${selecting}`,
      body: deleteRunsBody,
      data: deletedRuns,
      dataExample: { deleted: 12, next: null },
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
      summary: "List run events",
      description: "The run's journal, oldest first. `after` is the last `seq` that you have.",
      stream:
        "With `Accept: text/event-stream`, the response streams the stored events and then new ones until the run ends; events with the model's output in between have no id. `limit` is rejected.",
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
