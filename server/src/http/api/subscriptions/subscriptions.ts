import {
  createSubscriptionBody,
  delivery,
  emptyBody,
  pageQuery,
  replayBody,
  replayed,
  resumedSubscription,
  rotateSecretBody,
  subscription,
  testSubscriptionBody,
  updateSubscriptionBody,
} from "@beckon/contract";
import { z } from "zod";
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
  pauseSubscription,
  replayDeliveries,
  resumeSubscription,
  revealSubscriptionSecret,
  rotateSubscriptionSecret,
  testSubscription,
  updateSubscription,
} from "../../../subscriptions/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../../management/index.ts";

const one = "/subscriptions/:subscription_id";

const subscriptionOf = (request: ManagedRequest) => ({
  subscriptionId: request.param("subscription_id"),
});
const withBody = (request: ManagedRequest) => ({
  ...subscriptionOf(request),
  body: request.body,
});

const secretShown = z.object({ secret: z.string() });

const ofLimitedKeys =
  "A key that is limited to agents sees and changes only subscriptions that are limited to some of these agents.";

/** Routes of subscriptions, their secrets and tests, and the replay of their deliveries. */
export const subscriptionRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/subscriptions",
    permission: "subscriptions:write",
    doc: {
      id: "createSubscription",
      summary: "Create subscription",
      description:
        "Delivers events to `url`, signed with `secret` as in Standard Webhooks. The response shows the secret; it can be revealed later. A workspace has at most 50 subscriptions. A key needs `runs:read` too, unless `payload` is `thin`.",
      body: createSubscriptionBody,
      data: subscription,
      also: secretShown,
      created: "/subscriptions/:id",
      once: true,
      etag: true,
      example: {
        url: "https://example.com/beckon-events",
        event_types: ["run.finished", "run.failed"],
      },
    },
    handle: ({ ctx, body }) => createSubscription({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/subscriptions",
    permission: "subscriptions:read",
    doc: {
      id: "listSubscriptions",
      summary: "List subscriptions",
      description: ofLimitedKeys,
      query: pageQuery,
      data: subscription,
      list: true,
    },
    handle: ({ ctx, query }) => listSubscriptions({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: one,
    permission: "subscriptions:read",
    doc: { id: "getSubscription", summary: "Get subscription", data: subscription, etag: true },
    handle: (request) =>
      dataOf(getSubscription({ ctx: request.ctx, input: subscriptionOf(request) })),
  },
  {
    method: "PATCH",
    path: one,
    permission: "subscriptions:write",
    doc: {
      id: "updateSubscription",
      summary: "Update subscription",
      description:
        "Later attempts use the new values, also those of earlier events. A `url` with another scheme, host or port needs `secret` in the same request and, if the subscription has extra headers, `headers`. If the payload is then `full`, a change of `payload`, `url`, `event_types`, `agent_ids`, `trigger_ids` or `tags` needs `runs:read` too.",
      body: updateSubscriptionBody,
      data: subscription,
      etag: true,
      ifMatch: true,
      example: { event_types: ["run.finished"] },
    },
    handle: (request) => dataOf(updateSubscription({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: one,
    permission: "subscriptions:write",
    doc: {
      id: "deleteSubscription",
      summary: "Delete subscription",
      description: "Cancels its pending deliveries.",
      ifMatch: true,
    },
    handle: (request) => deleteSubscription({ ctx: request.ctx, input: subscriptionOf(request) }),
  },
  {
    method: "POST",
    path: `${one}/pause`,
    permission: "subscriptions:write",
    doc: {
      id: "pauseSubscription",
      summary: "Pause subscription",
      description:
        "Deliveries that are pending, and those of later events, get the status `not_sent`. They can be replayed.",
      body: emptyBody,
      bodyOptional: true,
      data: subscription,
      once: true,
      etag: true,
    },
    handle: (request) =>
      pauseSubscription({
        ctx: request.ctx,
        input: withBody(request),
      }),
  },
  {
    method: "POST",
    path: `${one}/resume`,
    permission: "subscriptions:write",
    doc: {
      id: "resumeSubscription",
      summary: "Resume subscription",
      description:
        "Enables a subscription that was paused or disabled. Later events are delivered. `missed` says what was not: to send it, replay the deliveries since `missed.since`.",
      body: emptyBody,
      bodyOptional: true,
      data: resumedSubscription,
      once: true,
      etag: true,
    },
    handle: (request) =>
      resumeSubscription({
        ctx: request.ctx,
        input: withBody(request),
      }),
  },
  {
    method: "POST",
    path: `${one}/rotate`,
    permission: "subscriptions:write",
    doc: {
      id: "rotateSubscriptionSecret",
      summary: "Rotate signing secret",
      description:
        "Replaces the secret. For `grace_seconds`, a day by default, deliveries have the signatures of both secrets.",
      body: rotateSecretBody,
      bodyOptional: true,
      data: subscription,
      also: secretShown,
      once: true,
      etag: true,
      example: { grace_seconds: 3600 },
    },
    handle: (request) =>
      rotateSubscriptionSecret({
        ctx: request.ctx,
        input: withBody(request),
      }),
  },
  {
    method: "GET",
    path: `${one}/secret`,
    permission: "subscriptions:write",
    recorded: true,
    doc: {
      id: "revealSubscriptionSecret",
      summary: "Reveal signing secret",
      description: "The audit log records the reveal.",
      data: subscription,
      also: secretShown,
      etag: true,
      errors: ["secret_unreadable"],
    },
    handle: (request) =>
      dataOf(revealSubscriptionSecret({ ctx: request.ctx, input: subscriptionOf(request) })),
  },
  {
    method: "POST",
    path: `${one}/test`,
    permission: "subscriptions:write",
    doc: {
      id: "testSubscription",
      summary: "Test subscription",
      description:
        'Delivers the documented example of an event, with `"test": true`. The ids of agent and run belong to nothing. `type` is by default the first of the subscription\'s `event_types`.',
      body: testSubscriptionBody,
      bodyOptional: true,
      data: delivery,
      created: "/subscriptions/:subscription_id/deliveries/:id",
      once: true,
      example: { type: "run.finished" },
    },
    handle: (request) =>
      testSubscription({
        ctx: request.ctx,
        input: withBody(request),
      }),
  },
  {
    method: "POST",
    path: `${one}/replay`,
    permission: "subscriptions:write",
    doc: {
      id: "replayDeliveries",
      summary: "Replay deliveries",
      description:
        "Sends the deliveries of a range of time again, with the same `webhook-id`: by default those that wait for their next attempt after a failed one, failed or were not sent, newest first. All attempts start over. An attempt that is in progress continues. At most 10,000 a request, of the newest 100,000 in the range; while `more` is true, repeat it with `next_until` as `until`, also if nothing was replayed. Tests, and deliveries of deleted runs, are left out. 409 if 50,000 deliveries are pending and the newest one of the range has ended.",
      body: replayBody,
      data: replayed,
      dataExample: { replayed: 12, more: false, next_until: "2026-01-31T09:30:00.000Z" },
      once: true,
      example: { since: "2026-01-31T00:00:00Z" },
    },
    handle: (request) => replayDeliveries({ ctx: request.ctx, input: withBody(request) }),
  },
];
