import {
  fireResponse,
  invokeBody,
  invokeResponse,
  runStatus,
  skippedResponse,
} from "@beckon/contract";
import { startErrors } from "../../runs/index.ts";
import { presetsNeeding200 } from "../receiving/index.ts";
import { errorResponses } from "./error-responses.ts";
import { id } from "./example-values.ts";
import { schemaOfRequest, schemaOfResponse } from "./json-schema.ts";
import { streamContent } from "./managed-operation.ts";
import {
  callback,
  idempotencyKey,
  lastEventIdOfInvoke,
  pathParameters,
  prefer,
  runLabels,
  sessionParameters,
  webhookId,
} from "./parameters.ts";
import { headersOf } from "./response-headers.ts";

const run_id = id("run");
const json = (schema: unknown, example: unknown) => ({ "application/json": { schema, example } });
const startCodes = [
  "unauthorized",
  "bad_request",
  "too_large",
  "unsupported_type",
  "idempotency_mismatch",
  ...startErrors,
  "conflict",
  "too_many_requests",
  "internal_error",
  "unavailable",
] as const;
const invokeHeaders = ["IdempotencyReplayed", "PreferenceApplied", "IgnoredFields"] as const;

const invoke = {
  operationId: "invokeAgent",
  tags: ["calls"],
  summary: "Invoke agent",
  description:
    "Runs the agent and waits for its output: the text of the model's last response or, if that is blank, the last text of an earlier step. If Beckon stops before the run ends, the response is a 202 without output, also without `Prefer`. Authenticate with the agent's token, or a key with the scope `agents:invoke`. The body is parsed as JSON whatever its Content-Type; fields other than `input` are ignored and named in the header `beckon-ignored-fields`. Disconnecting does not stop the run. With `Accept: text/event-stream`, the response streams the run's events; the stream of a run that fails ends with `run.failed`. If a limit is spent before the run starts, there is no stream: the response is a JSON error, 500, with `run_id` if the run was stored.",
  "x-scope": "agents:invoke",
  parameters: [
    ...pathParameters("/:agent_id"),
    idempotencyKey,
    lastEventIdOfInvoke,
    prefer,
    ...runLabels,
    callback,
    ...sessionParameters("POST"),
  ],
  requestBody: { required: true, content: json(schemaOfRequest(invokeBody), { input: "Hello" }) },
  responses: {
    200: {
      description:
        "The run succeeded. With `Accept: text/event-stream`: its events, and `Location` is the run.",
      headers: headersOf(...invokeHeaders, "Location"),
      content: {
        ...json(schemaOfResponse(invokeResponse), { ok: true, run_id, output: "Hello" }),
        ...streamContent,
      },
    },
    202: {
      description:
        "The run continues, because `Prefer` requested an early response or Beckon is stopping. Read the run at `Location`, or repeat the request with its Idempotency-Key to wait for it. While the database is unreachable, `status` is the one in which the run was created.",
      headers: headersOf(...invokeHeaders, "Location"),
      content: json(
        {
          type: "object",
          properties: {
            ok: { const: true },
            run_id: { type: "string" },
            status: { type: "string", "x-extensible-enum": runStatus.options },
          },
          required: ["ok", "run_id", "status"],
        },
        { ok: true, run_id, status: "running" },
      ),
    },
    204: {
      description:
        "A repeat of a streaming request whose client has received the whole stream: there is nothing more.",
      headers: headersOf("IdempotencyReplayed", "IgnoredFields", "Location"),
    },
    ...errorResponses([...startCodes, "forbidden", "not_found", "misdirected"], { runs: true }),
  },
};

const fire = {
  operationId: "fireTrigger",
  tags: ["calls"],
  summary: "Fire trigger",
  description:
    "Starts a run and responds as soon as it is durable. The URL is the credential: no header is needed, and `Authorization` is ignored. The run's input is the trigger's prompt prefix, a blank line and the body. JSON and text are passed on unchanged, a URL-encoded form becomes a JSON object. A body without Content-Type is text. An empty body is valid if the trigger has a prompt prefix. These rules for bodies and input do not apply to a trigger with the setting `receiving`, which determines the accepted bodies and the run's input. Its field `form.answer` determines the response to a browser form: a text as HTML, or 303. A request whose `Accept` names `application/json` gets JSON. Such a trigger can also accept other types, such as multipart forms, XML, NDJSON and CSV: see its `bodies`. A request can have any query parameters. The handshakes of Meta and Dropbox are GET requests to the same URL, which gets the challenge as text.",
  security: [],
  parameters: [...pathParameters("/:token"), idempotencyKey, webhookId, ...runLabels, callback],
  requestBody: {
    content: {
      "application/json": { schema: {}, example: { order: 4711 } },
      "text/plain": { schema: { type: "string" }, example: "Order 4711 was paid." },
      "application/x-www-form-urlencoded": {
        schema: { type: "object", additionalProperties: { type: "string" } },
        example: { order: "4711" },
      },
      "*/*": { schema: {} },
    },
  },
  responses: {
    200: {
      description: `With \`run_id\`: the run is durable. With \`skipped\`: no run was started; triggers with the presets ${presetsNeeding200} respond with 200 in place of 202. As \`text/html\`: accepted, with the text of \`form.answer\`. As \`text/xml\`: accepted, TwiML for the verification \`twilio\`. As \`text/plain\`: the challenge of Slack's handshake. Without a body: a form for the preset \`slack\` was accepted.`,
      headers: headersOf("IdempotencyReplayed"),
      content: {
        ...json(
          { anyOf: [schemaOfResponse(fireResponse), schemaOfResponse(skippedResponse)] },
          { ok: true, run_id },
        ),
        "text/html": { schema: { type: "string" } },
        "text/xml": { schema: { type: "string" } },
        "text/plain": { schema: { type: "string" } },
      },
    },
    202: {
      description:
        "The request is valid and starts no run, as the trigger's `receiving` says: the filter is false, the trigger waits for a sample, the field `form.honeypot` has a value, or the trigger is disabled and `when_disabled` is `swallow`.",
      headers: headersOf(),
      content: json(schemaOfResponse(skippedResponse), { ok: true, skipped: true }),
    },
    303: {
      description: "The request was accepted, and the trigger's `form.answer` redirects browsers.",
      headers: {
        ...headersOf(),
        Location: { description: "The URL of `form.answer`.", schema: { type: "string" } },
      },
    },
    ...errorResponses([...startCodes, "forbidden", "trigger_disabled"]),
  },
};

const firePreflight = {
  operationId: "preflightTrigger",
  tags: ["calls"],
  summary: "CORS preflight",
  description:
    "Browsers send it before a page of another origin fires a trigger. Every origin is allowed. It is also the handshake of CloudEvents senders, which name themselves in `WebHook-Request-Origin`.",
  security: [],
  parameters: pathParameters("/:token"),
  responses: {
    200: {
      description: "The trigger answers the handshake of CloudEvents: the sender can send events.",
      headers: {
        ...headersOf(),
        "WebHook-Allowed-Origin": { schema: { type: "string" } },
        "WebHook-Allowed-Rate": { schema: { type: "string" } },
        Allow: { schema: { type: "string" } },
      },
    },
    204: {
      description: "Every origin can fire.",
      headers: {
        ...headersOf(),
        "Access-Control-Allow-Origin": { schema: { const: "*" } },
        "Access-Control-Allow-Methods": { schema: { type: "string" } },
        "Access-Control-Allow-Headers": { schema: { type: "string" } },
      },
    },
  },
};

const state = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const liveness = {
  operationId: "livenessProbe",
  tags: ["health"],
  summary: "Liveness probe",
  description: "Responds as long as the process runs.",
  security: [],
  responses: {
    200: {
      description: "The process runs.",
      headers: headersOf(),
      content: json(state, { ok: true }),
    },
  },
};
const readiness = {
  operationId: "readinessProbe",
  tags: ["health"],
  summary: "Readiness probe",
  description:
    "Whether the process can take work: it is not stopping or full, and its database works.",
  security: [],
  responses: {
    200: { description: "Ready.", headers: headersOf(), content: json(state, { ok: true }) },
    503: { description: "Not ready.", headers: headersOf(), content: json(state, { ok: false }) },
  },
};

const page = (
  operationId: string,
  summary: string,
  type: string,
  more: Record<string, unknown> = {},
) => ({
  operationId,
  tags: ["health"],
  summary,
  security: [],
  ...more,
  responses: {
    200: {
      description: "The document.",
      headers: headersOf(),
      content: { [type]: { schema: { type: type === "text/html" ? "string" : "object" } } },
    },
  },
});

/** Operations outside of the management API, by path and method. */
export const fixedOperations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/api/public/agents/{agent_id}/invoke": { post: invoke },
  "/api/public/triggers/{token}": { post: fire, options: firePreflight },
  "/healthz": { get: liveness },
  "/readyz": { get: readiness },
  "/openapi.json": { get: page("getOpenapi", "OpenAPI document", "application/json") },
  "/docs": { get: page("getDocs", "API documentation", "text/html") },
  "/docs/{page}": {
    get: page("getDocsPage", "Page of the documentation", "text/html", {
      parameters: pathParameters("/:page"),
    }),
  },
};
