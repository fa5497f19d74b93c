import { delivery, deliveryDetails, resumedSubscription, subscription } from "@beckon/contract";
import { id, time } from "./example-values.ts";
import type { Resource } from "./resource.ts";

const url = "https://example.com/beckon-events";

const subscriptionExample = {
  id: id("sub"),
  version: 1,
  url,
  description: "Order system",
  event_types: ["run.finished", "run.failed"],
  agent_ids: [id("agt")],
  trigger_ids: null,
  tags: null,
  payload: "full",
  format: "standard",
  header_names: ["authorization"],
  status: "enabled",
  disabled_reason: null,
  inactive_since: null,
  previous_secret_until: null,
  health: {
    last_success_at: time,
    last_failure_at: null,
    failing_since: null,
    last_error: null,
    pending: 0,
    next_attempt_at: null,
    failed: 0,
  },
  created_by: `user:${id("usr")}`,
  created_at: time,
  updated_at: time,
};

const deliveryExample = {
  id: id("dlv"),
  subscription_id: id("sub"),
  kind: "event",
  event_id: id("evt"),
  type: "run.finished",
  agent_id: id("agt"),
  run_id: id("run"),
  seq: 6,
  url,
  status: "succeeded",
  attempts: 1,
  next_attempt_at: null,
  last_status: 204,
  last_error: null,
  created_at: time,
  finished_at: time,
};

/** The entries of `resources` for subscriptions and deliveries. */
export const subscriptionResources: readonly Resource[] = [
  { name: "Subscription", schema: subscription, example: subscriptionExample },
  {
    name: "ResumedSubscription",
    schema: resumedSubscription,
    example: { ...subscriptionExample, missed: { deliveries: 12, since: time } },
  },
  { name: "Delivery", schema: delivery, example: deliveryExample },
  {
    name: "DeliveryDetails",
    schema: deliveryDetails,
    example: {
      ...deliveryExample,
      body: '{"type":"run.finished","timestamp":"2026-01-31T09:30:00.000Z","data":{}}',
      attempts_log: [
        {
          number: 1,
          started_at: time,
          duration_ms: 84,
          url,
          request_headers: {
            "content-type": "application/json",
            "webhook-id": id("evt"),
            "webhook-timestamp": "1769851800",
          },
          status: 204,
          response_headers: {},
          response_body: "",
          error: null,
        },
      ],
    },
  },
];
