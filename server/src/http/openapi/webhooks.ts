import {
  cloudEventsBody,
  type DeliveredEvent,
  deliveredEvent,
  eventVersion,
  standardBody,
} from "@beckon/contract";
import { exampleBody } from "../../subscriptions/index.ts";
import { id } from "./example-values.ts";
import { type JsonSchema, schemaOfResponse } from "./json-schema.ts";

const descriptions: Readonly<Record<DeliveredEvent, string>> = {
  "run.started": "A run started to execute.",
  "run.tool_call": "A run is about to call a tool.",
  "run.finished": "A run succeeded.",
  "run.failed": "A run ended with an error.",
  "run.cancelled": "A run was cancelled.",
  "usage.threshold":
    "50, 80 or 100 percent of a limit were reached, once each per period, and again after a raise of the limit. 100 percent are also reached when a model call does not fit into what is left.",
  "agent.paused": "An agent was paused, or the reason of its pause changed.",
  "agent.resumed": "A paused agent was resumed.",
  "subscription.disabled": "Beckon disabled a subscription: events are not delivered to it.",
};

const header = (name: string, description: string, example: string): JsonSchema => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

const headers = [
  header(
    "webhook-id",
    "Id of the event, the same at every attempt, replay and URL: ignore an id that you have processed at the same URL.",
    id("evt"),
  ),
  header(
    "webhook-timestamp",
    "Time of the attempt, in seconds since 1970. Reject old ones.",
    "1769851800",
  ),
  header(
    "webhook-signature",
    "`v1,` and the HMAC-SHA256 in base64 of `<webhook-id>.<webhook-timestamp>.<body>`. While a secret is rotated, two signatures separated by a space.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

/**
 * Returns the catalogue of delivered events: their schemas, versions and examples. The code that
 * makes the bodies of deliveries also makes the examples.
 */
export function webhooksOf(publicUrl: string): Record<string, JsonSchema> {
  return Object.fromEntries(
    deliveredEvent.options.map((type) => [type, { post: operationOf(type, publicUrl) }]),
  );
}

function operationOf(type: DeliveredEvent, publicUrl: string): JsonSchema {
  const examplesIn = (format: "standard" | "cloudevents") => ({
    full: { value: exampleBody(type, { format, payload: "full", publicUrl }) },
    thin: { value: exampleBody(type, { format, payload: "thin", publicUrl }) },
  });
  const words = type.split(/[._]/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return {
    operationId: `receive${words.join("")}`,
    tags: ["subscriptions"],
    summary: type,
    description: `${descriptions[type]} Delivered at least once, in no certain order, until the receiver responds with a 2xx status.`,
    "x-event-version": eventVersion,
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemaOfResponse(standardBody(type)),
          examples: examplesIn("standard"),
        },
        "application/cloudevents+json": {
          schema: schemaOfResponse(cloudEventsBody(type)),
          examples: examplesIn("cloudevents"),
        },
      },
    },
    responses: {
      "2XX": { description: "The receiver has accepted the event." },
      "410": { description: "The receiver wants no more events: the subscription is disabled." },
      default: { description: "The event is delivered again later." },
    },
  };
}
