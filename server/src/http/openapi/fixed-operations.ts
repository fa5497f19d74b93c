import { fireResponse, invokeBody, invokeResponse } from "@beckon/contract";
import { startErrors } from "../../runs/index.ts";
import { errorResponses } from "./error-responses.ts";
import { schemaOfAnswer, schemaOfRequest } from "./json-schema.ts";
import { idempotencyKey, lastEventId, pathParameters, streamContent } from "./managed-operation.ts";

const run_id = "run_01jdb8tq5ke5ktbqrs4n1h9m0z";
const json = (schema: unknown, example: unknown) => ({ "application/json": { schema, example } });
const state = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const start = [
  "unauthorized",
  "bad_request",
  "too_large",
  "idempotency_mismatch",
  ...startErrors,
  "conflict",
  "too_many_requests",
] as const;
const ours = ["internal_error", "unavailable"] as const;

const invoke = {
  operationId: "invokeAgent",
  tags: ["calls"],
  summary: "Run an agent and wait for its answer",
  description:
    "With the agent's token, or a key with the scope `agents:invoke`. The body is read as JSON whatever Content-Type says; members other than input are ignored. A caller that disconnects does not stop the run. With Accept: text/event-stream the answer is the run's events, as they come; a run that fails ends its stream with `run.failed`.",
  "x-scope": "agents:invoke",
  parameters: [
    ...pathParameters("/:agent_id"),
    idempotencyKey,
    lastEventId,
    {
      name: "Prefer",
      in: "header",
      description:
        "respond-async: 202 at once. wait=N: 202 after N seconds, unless the answer is there before.",
      schema: { type: "string" },
    },
  ],
  requestBody: { required: true, content: json(schemaOfRequest(invokeBody), { input: "Hello" }) },
  responses: {
    200: {
      description:
        "The run succeeded; or, with Accept: text/event-stream, its events, and Location names the run.",
      content: {
        ...json(schemaOfAnswer(invokeResponse), { ok: true, run_id, output: "Hello" }),
        ...streamContent,
      },
    },
    202: {
      description: "The run goes on; read it at Location.",
      headers: { Location: { schema: { type: "string" } } },
      content: json(
        {
          type: "object",
          properties: {
            ok: { const: true },
            run_id: { type: "string" },
            status: { type: "string" },
          },
          required: ["ok", "run_id", "status"],
        },
        { ok: true, run_id, status: "running" },
      ),
    },
    204: {
      description:
        "A repeat of a request whose stream's end the reader has had: nothing comes any more.",
    },
    ...errorResponses([...start, "forbidden", "not_found", ...ours], { runs: true }),
  },
};

const fire = {
  operationId: "fireTrigger",
  tags: ["calls"],
  summary: "Start a run by its trigger's URL",
  description:
    "The URL is the credential: no header is needed. The run's input is the trigger's prompt prefix, a blank line and the body. JSON and text are passed on unchanged, a URL-encoded form becomes a JSON object.",
  security: [],
  parameters: [...pathParameters("/:token"), idempotencyKey],
  requestBody: {
    content: {
      "application/json": { schema: {}, example: { order: 4711 } },
      "text/plain": { schema: { type: "string" } },
    },
  },
  responses: {
    200: {
      description: "The run is durable.",
      content: json(schemaOfAnswer(fireResponse), { ok: true, run_id }),
    },
    ...errorResponses([...start, "trigger_disabled", "unsupported_type", ...ours]),
  },
};

const mayFire = {
  operationId: "mayFireTrigger",
  tags: ["calls"],
  summary: "Ask, as a browser does, whether a form may fire",
  security: [],
  parameters: pathParameters("/:token"),
  responses: { 204: { description: "It may, from any origin." } },
};

const health = (operationId: string, summary: string, fails: boolean) => ({
  operationId,
  tags: ["health"],
  summary,
  security: [],
  responses: {
    200: { description: "Yes.", content: json(state, { ok: true }) },
    ...(fails ? { 503: { description: "No.", content: json(state, { ok: false }) } } : {}),
  },
});

const page = (operationId: string, summary: string, type: string) => ({
  operationId,
  tags: ["health"],
  summary,
  security: [],
  responses: { 200: { description: "Here it is.", content: { [type]: {} } } },
});

/** Operations outside of management, by path and method. */
export const fixedOperations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/api/public/agents/{agent_id}/invoke": { post: invoke },
  "/api/public/triggers/{token}": { post: fire, options: mayFire },
  "/healthz": { get: health("isAlive", "Ask whether the process lives", false) },
  "/readyz": { get: health("isReady", "Ask whether the process can take work", true) },
  "/openapi.json": { get: page("getOpenapi", "Read this document", "application/json") },
  "/docs": { get: page("getDocs", "Read this document as a page", "text/html") },
};
