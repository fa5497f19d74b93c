import {
  agentRunsQuery,
  cancelledRuns,
  cancelRunsBody,
  deletedRuns,
  deleteRunsBody,
  draftRunBody,
  emptyBody,
  eventOnWire,
  eventsQuery,
  listedRun,
  retryRunBody,
  run,
  runStats,
  runStatsQuery,
  runsQuery,
} from "@beckon/contract";
import {
  cancelRun,
  cancelRuns,
  deleteRun,
  deleteRuns,
  getArtifact,
  getRun,
  getRunEvent,
  getRunStats,
  listRunEvents,
  listRuns,
  retryRun,
  startDraftRun,
  startErrors,
  streamRun,
} from "../../runs/index.ts";
import {
  artifactFile,
  dataOf,
  type ManagedRequest,
  type ManagedRoute,
} from "../management/index.ts";
import { seqOf } from "../streams/index.ts";
import { summarizing } from "./events.ts";

const runOf = (request: ManagedRequest) => ({ runId: request.param("run_id") });
const withBody = (request: ManagedRequest) => ({ ...runOf(request), body: request.body });

const searching =
  "All filters apply together. `created_after` is inclusive, `created_before` exclusive; `error` matches part of the error's code or message, `text` part of the first 65,536 characters of the input or output, both regardless of case; `external_id` and `tag` match exactly. Each page searches a limited number of runs: it can hold fewer than `limit`, even none, and still have a `next`. The search is complete when `next` is null. With `view=summary`, `input` and `output` are their first 200 characters, and `input_bytes` and `output_bytes` the sizes of the whole ones; `GET /runs/:run_id` returns those. A page whose first run alone is larger than the server's memory for a response gets `too_large`: send the same `after` with `view=summary&limit=1`, and continue with its `next`.";

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
      data: listedRun,
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
      data: listedRun,
      list: true,
    },
    handle: ({ ctx, query, param }) =>
      listRuns({ ctx, input: { agentId: param("agent_id"), query } }),
  },
  {
    method: "POST",
    path: "/agents/:agent_id/draft-runs",
    permission: "agents:write",
    alsoNeeds: "agents:invoke",
    doc: {
      id: "startDraftRun",
      summary: "Start draft run",
      description:
        "Runs the agent with changes that are not saved, and responds with the run as soon as it is durable. `config` has the fields of Update agent and is merged with the current version, which is the run's `agent_version`. Tools can refer to secrets of the agent by `secret_id`, each for the origins that it was given for; a new secret is rejected. `max_concurrent_runs` and `max_queued_runs` stay those of the agent. The run has the source `draft`; its configuration is deleted with it. Without the scope `runs:read`, `input` in the response is empty and `output` null.",
      body: draftRunBody,
      data: run,
      created: "/runs/:id",
      once: true,
      errors: startErrors,
      example: {
        input: "Invoice 4711 is wrong.",
        config: { instructions: "Sort incoming mail. Answer with one word." },
      },
    },
    handle: ({ ctx, param, body }) =>
      startDraftRun({
        ctx,
        input: { agentId: param("agent_id"), body },
      }),
  },
  {
    method: "GET",
    path: "/runs/stats",
    permission: "runs:read",
    doc: {
      id: "getRunStats",
      summary: "Get run statistics",
      description:
        "Counts, durations, tokens and cost of the runs that match the filter, which is that of the list. Draft runs are not counted. `total` is that of all runs together. There is one group for each `bucket` of time and, with `group_by=agent`, for each agent; groups without runs are left out. Without both, there is one group. The time range is the hour before now with `bucket=minute`, 30 days with `bucket=day` and otherwise a day, unless `created_after` and `created_before` say another: at most 1 day with `minute`, 31 days with `hour`, 366 days otherwise. At most 100,000 runs can be in it, and statistics that take longer than 3 seconds, or than their request has left, are rejected: shorten the range, or name one agent. Tokens and cost are those of runs that have ended.",
      query: runStatsQuery,
      data: runStats,
    },
    handle: ({ ctx, query }) => dataOf(getRunStats({ ctx, input: { query } })),
  },
  {
    method: "GET",
    path: "/runs/:run_id",
    permission: "runs:read",
    doc: {
      id: "getRun",
      summary: "Get run",
      description:
        "A run has ended when `finished_at` is set. `output` is the text of the model's last response or, if that is blank, the last text of an earlier step. If the response is `too_large`, read the output in parts: the artifact that the run's final event names.",
      data: run,
    },
    handle: (request) => dataOf(getRun({ ctx: request.ctx, input: runOf(request) })),
  },
  {
    method: "POST",
    path: "/runs/:run_id/cancel",
    permission: "runs:write",
    doc: {
      id: "cancelRun",
      summary: "Cancel run",
      description:
        "A queued run ends at once, a running one as soon as it can be stopped. A run that has ended is not changed. Without the scope `runs:read`, `input` in the response is empty and `output` null.",
      body: emptyBody,
      bodyOptional: true,
      data: run,
    },
    handle: (request) => dataOf(cancelRun({ ctx: request.ctx, input: withBody(request) })),
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
      once: true,
      dataExample: { cancelled: 12, next: null },
      example: { filter: { agent_id: "agt_01jdb8tq5ke5ktbqrs4n1h9m0z", status: ["queued"] } },
    },
    handle: ({ ctx, body }) => cancelRuns({ ctx, input: { body } }),
  },
  {
    method: "POST",
    path: "/runs/:run_id/retry",
    permission: "runs:write",
    doc: {
      id: "retryRun",
      summary: "Retry run",
      description:
        "Starts a new run with the payload of a run that has ended, on the agent's current version or, with `version: original`, on the version of that run. `input` replaces the whole input, also a trigger's prompt prefix, and also needs the scope `agents:invoke`. A run with the error `mapping_error` can only be retried with `input`, else the response is 409: replay its request instead. If a limit failed the run when it was created, and its sender has started a run of the same event meanwhile, the response has that run, or is 409 if that run was deleted: retry with `input`. Files of the run that the input names, such as those of a form, are copied, and their ids in the input replaced. A draft run is retried with its own configuration, which also needs the scopes `agents:write` and `agents:invoke`. The new run has `retry_of`, and the same `source`, `external_id` and `tags`. Without the scope `runs:read`, `input` in the response is empty and `output` null.",
      body: retryRunBody,
      bodyOptional: true,
      data: run,
      created: "/runs/:id",
      once: true,
      errors: startErrors,
      example: { version: "original" },
    },
    handle: (request) => retryRun({ ctx: request.ctx, input: withBody(request) }),
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
    handle: (request) => deleteRun({ ctx: request.ctx, input: runOf(request) }),
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
      once: true,
      dataExample: { deleted: 12, next: null },
      example: { filter: { status: ["failed"], created_before: "2026-01-31T00:00:00Z" } },
    },
    handle: ({ ctx, body }) => deleteRuns({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/events",
    permission: "runs:read",
    doc: {
      id: "listRunEvents",
      summary: "List run events",
      description: `The run's journal, oldest first. \`after\` is the last \`seq\` that you have. A page of large events has fewer than \`limit\`; the journal is complete when \`next\` is null. ${summarizing}`,
      stream:
        "With `Accept: text/event-stream`, the response streams the stored events and then new ones until the run ends; events with the model's output in between have no id, and are left out with `view=summary` except where the output starts and ends. `limit` is rejected.",
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
  {
    method: "GET",
    path: "/runs/:run_id/events/:seq",
    permission: "runs:read",
    doc: {
      id: "getRunEvent",
      summary: "Get run event",
      description:
        "One event of the run's journal, for example to verify a delivery. `data` above 64 KiB has `artifact_id` and `bytes` in place of its large fields: get the whole data, in JSON, at `/runs/:run_id/artifacts/:artifact_id`.",
      data: eventOnWire,
    },
    handle: (request) =>
      dataOf(
        getRunEvent({
          ctx: request.ctx,
          input: { ...runOf(request), seq: request.param("seq") },
        }),
      ),
  },
  {
    method: "GET",
    path: "/runs/:run_id/artifacts/:artifact_id",
    permission: "runs:read",
    doc: {
      id: "getRunArtifact",
      summary: "Get run artifact",
      description:
        "A file of the run. The whole `data` of an event above 64 KiB is an artifact in JSON: the event has `artifact_id` and `bytes` in place of its large fields. JSON, plain text and images are sent with their media type, all else as `application/octet-stream`.",
      bytes: true,
    },
    handle: async (request) =>
      artifactFile(
        await getArtifact({
          ctx: request.ctx,
          input: { ...runOf(request), artifactId: request.param("artifact_id") },
        }),
      ),
  },
];
