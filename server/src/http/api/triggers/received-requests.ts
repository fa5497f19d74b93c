import {
  preset,
  preview,
  previewBody,
  receivedRequest,
  receivedRequestDetails,
  receivedRequestsQuery,
  replayedRequests,
  replayRequestBody,
  replayRequestsBody,
  run,
} from "@beckon/contract";
import { startErrors } from "../../../runs/index.ts";
import {
  deleteRequest,
  getRequest,
  listPresets,
  listRequests,
  previewTrigger,
  replayRequest,
  replayRequests,
} from "../../../triggers/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../../management/index.ts";

const trigger = "/agents/:agent_id/triggers/:trigger_id";
const list = `${trigger}/requests`;
const one = `${list}/:request_id`;

const triggerOf = (request: ManagedRequest) => ({
  agentId: request.param("agent_id"),
  triggerId: request.param("trigger_id"),
});
const withBody = (request: ManagedRequest) => ({ ...triggerOf(request), body: request.body });
const requestOf = (request: ManagedRequest) => ({
  ...triggerOf(request),
  requestId: request.param("request_id"),
});

/** Routes of received requests and of their previews. */
export const receivedRequestRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: list,
    permission: "triggers:read",
    doc: {
      id: "listTriggerRequests",
      summary: "List received requests",
      description:
        "Requests that the trigger received, also those that started no run. With both filters, each page searches a limited number of requests: it can hold fewer than `limit`, even none, and still have a `next`. Requests are kept for 30 days unless the operator has set another time. While a trigger has no `receiving`, none are stored: each of its requests is a run, `GET /runs?trigger_id=…`, and rejected ones are not kept. Of `rejected`, `invalid_signature`, `repeated`, `honeypot` and `swallowed` requests, the first 60 a minute of each outcome are stored; rejected ones that were verified are counted apart from those that were not. The `error` of a `mapping_error` can contain values of the request: without the scope `runs:read` it is null.",
      query: receivedRequestsQuery,
      data: receivedRequest,
      list: true,
    },
    handle: (request) =>
      listRequests({ ctx: request.ctx, input: { ...triggerOf(request), query: request.query } }),
  },
  {
    method: "POST",
    path: `${list}/replay`,
    permission: "triggers:write",
    alsoNeeds: "agents:invoke",
    doc: {
      id: "replayTriggerRequests",
      summary: "Replay received requests",
      description:
        "Starts runs of the requests that arrived in a range of time, at most the newest 1,000, in the order of their arrival. Of the requests with one event id, the newest is replayed. If the event has a run already, or a replay of the request has started one, the request is replayed only if its outcome is `started` or `held`. What the honeypot caught is replayed only if `outcome` asks for it. If `more` is true, continue with `until` set to `next_until`. Send an Idempotency-Key: a repeated call then starts no second run of a request. If an error ends the call, for example 429 `agent_busy`, its text says how many runs were started before.",
      body: replayRequestsBody,
      data: replayedRequests,
      once: true,
      errors: [...startErrors, "conflict"],
      example: { since: "2026-01-31T09:00:00Z", outcome: "mapping_error" },
      dataExample: { replayed: 12, skipped: 1, more: false, next_until: null },
    },
    handle: (request) => replayRequests({ ctx: request.ctx, input: withBody(request) }),
  },
  {
    method: "GET",
    path: one,
    permission: "triggers:read",
    alsoNeeds: "runs:read",
    doc: {
      id: "getTriggerRequest",
      summary: "Get received request",
      description:
        "The request with its query, headers and body. Headers with credentials and signatures are left out, as is the header with which the trigger's saved settings verify requests.",
      data: receivedRequestDetails,
      errors: ["too_large"],
    },
    handle: (request) => dataOf(getRequest({ ctx: request.ctx, input: requestOf(request) })),
  },
  {
    method: "DELETE",
    path: one,
    permission: "triggers:write",
    doc: {
      id: "deleteTriggerRequest",
      summary: "Delete received request",
      description:
        "Deletes the request with its query, headers and body. Its run is not deleted; if its event has a run, the event starts no second one.",
    },
    handle: (request) => deleteRequest({ ctx: request.ctx, input: requestOf(request) }),
  },
  {
    method: "POST",
    path: `${one}/replay`,
    permission: "triggers:write",
    alsoNeeds: "agents:invoke",
    doc: {
      id: "replayTriggerRequest",
      summary: "Replay received request",
      description:
        "Starts a run of the request again, with the trigger's present settings. The replay is a received request of its own. If its event has no run yet, the event id is bound to the new run, so that the sender's next attempt starts no second one. 409 `conflict` if the content of the request, or with `version: original` the agent's version, is not stored, or if the filter does not let it pass. Without the scope `runs:read`, `input` in the response is empty and `output` null, and a `mapping_error` does not say why.",
      body: replayRequestBody,
      bodyOptional: true,
      data: run,
      created: "/runs/:id",
      once: true,
      errors: [...startErrors, "conflict", "mapping_error", "too_large", "unsupported_type"],
      example: { version: "current" },
    },
    handle: (request) =>
      replayRequest({
        ctx: request.ctx,
        input: { ...requestOf(request), body: request.body },
      }),
  },
  {
    method: "POST",
    path: `${trigger}/preview`,
    permission: "triggers:read",
    changesNothing: true,
    doc: {
      id: "previewTrigger",
      summary: "Preview trigger",
      description:
        "Shows what the trigger makes of a request: the event, whether the filter lets it pass, and the input that the model would see, in its parts. Nothing is stored and no run starts. `receiving` and `prompt_prefix` replace the trigger's, so that settings can be tried before they are saved. A received request also needs the scope `runs:read`.",
      body: previewBody,
      exactPayload: true,
      data: preview,
      errors: ["conflict"],
      example: {
        request: { example: { preset: "github", name: "push" } },
        receiving: {
          preset: "github",
          filter: "event.type == 'push'",
          template: "{{ payload.ref }} was pushed",
        },
      },
    },
    handle: (request) => dataOf(previewTrigger({ ctx: request.ctx, input: withBody(request) })),
  },
];

/** The route that lists the presets of triggers. */
export const presetRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/trigger-presets",
    permission: "triggers:read",
    doc: {
      id: "listTriggerPresets",
      summary: "List trigger presets",
      description:
        "Settings for the services that send webhooks, to be set as `receiving` of a trigger, with what to enter where, and example requests. The list has one page.",
      data: preset,
      list: true,
    },
    handle: async ({ ctx }) => listPresets({ ctx }),
  },
];
