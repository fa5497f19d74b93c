import { id } from "./example-values.ts";
import type { JsonSchema } from "./json-schema.ts";

const string: JsonSchema = { type: "string" };
const number: JsonSchema = { type: "integer", minimum: 1, format: "int64" };

/** Description and example of each path parameter, and its schema if it is not a string. */
const pathParameterDocs: Readonly<
  Record<string, { description: string; example: string | number; schema?: JsonSchema }>
> = {
  agent_id: { description: "Id of the agent.", example: id("agt") },
  version: { description: "Number of the agent's version.", example: 1, schema: number },
  trigger_id: { description: "Id of the trigger.", example: id("trg") },
  token: { description: "The trigger's token, part of its secret URL.", example: "bkt_TOKEN" },
  request_id: { description: "Id of the received request.", example: id("req") },
  run_id: { description: "Id of the run.", example: id("run") },
  seq: { description: "Number of the event within its run, from 1.", example: 1, schema: number },
  event_id: { description: "Id of the event.", example: id("evt") },
  subscription_id: { description: "Id of the subscription.", example: id("sub") },
  delivery_id: { description: "Id of the delivery.", example: id("dlv") },
  artifact_id: { description: "Id of the artifact.", example: id("art") },
  provider_id: { description: "Id of the provider.", example: id("prv") },
  plan_id: { description: "Id of the plan.", example: id("pln") },
  target_workspace_id: {
    description: "Id of the workspace whose plan is set.",
    example: id("wsp"),
  },
  scope: {
    description: "What the ceiling applies to: `workspace`, `agent`, `key` or `trigger`.",
    example: "agent",
  },
  scope_id: { description: "Id of the workspace, agent, key or trigger.", example: id("agt") },
  price_id: { description: "Id of the price.", example: id("pri") },
  key_id: { description: "Id of the key.", example: id("key") },
  workspace_id: { description: "Id of the workspace.", example: id("wsp") },
  user_id: { description: "Id of the member.", example: id("usr") },
  invitation_id: { description: "Id of the invitation.", example: id("inv") },
  session_id: { description: "Id of the session.", example: id("ses") },
  page: { description: "A resource or a guide.", example: "agents" },
};

/** Returns the parameters of a path such as `/agents/:agent_id`. */
export function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const doc = pathParameterDocs[name];
    if (doc === undefined) throw new Error(`the path parameter ${name} has no description`);
    const { schema = string, ...rest } = doc;
    return { name, in: "path", required: true, ...rest, schema };
  });
}

export const idempotencyKey: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A repeat with the same key and body gets the first response again, with `Idempotency-Replayed: true`.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/**
 * The headers that label a run. Callers must percent-encode the values. The client library does
 * this for its callers.
 */
export const runLabels: readonly JsonSchema[] = [
  {
    name: "beckon-external-id",
    in: "header",
    description:
      "Your own id of the run, 1 to 255 characters; it need not be unique. Percent-encode all but printable ASCII, and `%`.",
    schema: { type: "string", minLength: 1 },
    example: "order-4711",
  },
  {
    name: "beckon-tags",
    in: "header",
    description:
      "At most 10 tags, separated by commas, each of 1 to 64 characters. Percent-encode all but printable ASCII, `%`, and a comma in a tag.",
    schema: { type: "string", minLength: 1 },
    example: "billing,Z%C3%BCrich",
  },
];

/** The header that requests a callback. */
export const callback: JsonSchema = {
  name: "beckon-callback",
  in: "header",
  description:
    "URL that also gets the run's final event, signed like a delivery. At least one enabled subscription that covers the agent must have the same origin. The secret of the oldest such subscription signs. A trigger accepts this header only if it has `allows_callback`. Percent-encode all but printable ASCII.",
  schema: { type: "string", format: "uri", maxLength: 2_000 },
  example: "https://example.com/hooks/order-4711",
};

export const lastEventId: JsonSchema = {
  name: "Last-Event-ID",
  in: "header",
  description: "For streams: continue after this event. It takes precedence over `after`.",
  schema: { type: "string" },
};

/** `lastEventId` of invoke, which has no `after`, and starts a run. */
export const lastEventIdOfInvoke: JsonSchema = {
  ...lastEventId,
  description:
    "For a repeated request with the same Idempotency-Key: stream the events of its run after this one. Without an Idempotency-Key it is rejected, because the request would start another run.",
};

export const ifMatch: JsonSchema = {
  name: "If-Match",
  in: "header",
  description:
    "The version that you have read: the value of `ETag`. If it is no longer the current version, the request is rejected with 412.",
  schema: { type: "string" },
};

export const prefer: JsonSchema = {
  name: "Prefer",
  in: "header",
  description:
    "`respond-async`: respond with 202 at once. `wait=N`: respond with 202 after N seconds unless the run has ended. RFC 7240.",
  schema: { type: "string" },
};

/**
 * Parameters that operations include by reference (`$ref`). The generator of the client library
 * skips references. The client needs no options for these parameters, because it authenticates with
 * keys and handles idempotency keys itself.
 */
export const sharedParameters = {
  Workspace: {
    name: "beckon-workspace",
    in: "header",
    description:
      "The workspace of a session's request, needed by members of several. Ignored with a key.",
    schema: { type: "string" },
  },
  WorkspaceInQuery: {
    name: "workspace",
    in: "query",
    description:
      "The workspace, like the header `beckon-workspace`, for links and `EventSource`. Only with a session and on GET.",
    schema: { type: "string" },
  },
  WebhookId: {
    name: "webhook-id",
    in: "header",
    description:
      "The delivery's id in Standard Webhooks. It serves as the Idempotency-Key if that is absent and the trigger's settings have no `event_id`; an invalid one is ignored.",
    schema: { type: "string" },
  },
} as const;

const ref = (name: keyof typeof sharedParameters): JsonSchema => ({
  $ref: `#/components/parameters/${name}`,
});

export const webhookId = ref("WebhookId");

/** Returns the parameters that only sessions use. */
export function sessionParameters(method: string): JsonSchema[] {
  return method === "GET" ? [ref("Workspace"), ref("WorkspaceInQuery")] : [ref("Workspace")];
}
