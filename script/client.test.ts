import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventData, workspaceEventData } from "@beckon/contract";
import { expect, test } from "vitest";
import type { JournalEvent, WorkspaceEvent } from "../client/src/index.ts";
import { type OpenapiDocument, operationsOf } from "./client/document.ts";
import { namesOf } from "./client/names.ts";
import { generateClient } from "./client.ts";

test("the generated files of the client are up to date with docs/openapi.json", async () => {
  for (const [path, text] of Object.entries(await generateClient())) {
    expect(
      readFileSync(join(import.meta.dirname, "..", path), "utf8"),
      `${path}: run node script/client.ts`,
    ).toBe(text);
  }
});

test("the client has types for all events of a run's journal", () => {
  const known: { readonly [Type in JournalEvent["type"]]: true } & {
    readonly [Type in keyof typeof eventData]: true;
  } = {
    "run.queued": true,
    "run.waiting": true,
    "run.started": true,
    "run.resumed": true,
    "run.step": true,
    "run.step_lost": true,
    "run.tool_call": true,
    "run.tool_result": true,
    "run.finished": true,
    "run.failed": true,
    "run.cancelled": true,
  };
  expect(Object.keys(known).sort()).toEqual(Object.keys(eventData).sort());
});

test("the client has types for all events that belong to no run", () => {
  type Kind = Extract<WorkspaceEvent, { run_id: null }>["type"];
  const known: { readonly [Type in Kind]: true } & {
    readonly [Type in keyof typeof workspaceEventData]: true;
  } = {
    "agent.paused": true,
    "agent.resumed": true,
    "usage.threshold": true,
    "subscription.disabled": true,
  };
  expect(Object.keys(known).sort()).toEqual(Object.keys(workspaceEventData).sort());
});

const ok = { 200: { content: { "application/json": { schema: {} } } } };
const named = (
  operations: readonly [method: string, path: string, operationId: string][],
): string[] => {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [method, path, operationId] of operations) {
    const fullPath = `/api/public${path}`;
    paths[fullPath] = { ...paths[fullPath], [method]: { operationId, responses: ok } };
  }
  const names = namesOf(operationsOf({ paths }));
  return operations.map(([, , id]) => `${names.get(id)?.group}.${names.get(id)?.method}`);
};

test("functions are named by their path's last collection and their operationId", () => {
  const operations: [string, string, string][] = [
    ["get", "/agents", "listAgents"],
    ["get", "/agents/{agent_id}", "getAgent"],
    ["post", "/agents/{agent_id}/token/rotate", "rotateAgentToken"],
    ["get", "/agents/{agent_id}/versions/{version}", "getAgentVersion"],
    ["post", "/agents/{agent_id}/versions/{version}/restore", "restoreAgentVersion"],
    ["get", "/agents/{agent_id}/runs", "listAgentRuns"],
    ["get", "/runs", "listRuns"],
    ["get", "/runs/{run_id}", "getRun"],
    ["post", "/runs/{run_id}/cancel", "cancelRun"],
    ["post", "/runs/cancel", "cancelRuns"],
    ["get", "/runs/{run_id}/events", "listRunEvents"],
    ["get", "/events", "watchEvents"],
    ["get", "/audit/export", "exportAudit"],
    ["get", "/usage-reports/{report_id}", "getUsageReport"],
    ["get", "/policies/{policy_id}", "getPolicy"],
    ["post", "/sign-in", "signIn"],
    ["post", "/setup", "setUp"],
  ];
  expect(named(operations)).toEqual([
    "agents.list",
    "agents.get",
    "agents.rotateToken",
    "versions.get",
    "versions.restore",
    "runs.listForAgent",
    "runs.list",
    "runs.get",
    "runs.cancel",
    "runs.cancelMany",
    "runs.listEvents",
    "events.watch",
    "audit.export",
    "usageReports.get",
    "policies.get",
    ".signIn",
    ".setUp",
  ]);
});

test("functions that would get the same name keep their operationIds", () => {
  const operations: [string, string, string][] = [
    ["post", "/agents/{agent_id}/pause", "pauseAgent"],
    ["post", "/groups/{group_id}/agents/{agent_id}/pause", "pause"],
  ];
  expect(named(operations)).toEqual(["agents.pauseAgent", "agents.pause"]);
});

test("the generator supports all kinds of parameters, bodies and responses", async () => {
  const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
  const data = (schema: unknown, more = {}) =>
    json({ type: "object", properties: { ok: { const: true }, data: schema, ...more } });
  const thing = { $ref: "#/components/schemas/Thing" };
  const document = {
    components: {
      schemas: {
        Error: { type: "object", properties: { code: { type: "string" } } },
        Thing: {
          type: "object",
          properties: { "odd-name": { $ref: "#/$defs/__schema0" }, metadata: { type: "object" } },
          $defs: {
            __schema0: {
              anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/__schema0" } }],
            },
          },
        },
      },
    },
    paths: {
      "/healthz": { get: { operationId: "isAlive", responses: ok } },
      "/api/public/things": {
        parameters: [{ name: "beckon-workspace", in: "header", schema: { type: "string" } }],
        get: {
          operationId: "listThings",
          summary: "List things */ evil",
          parameters: [{ name: "must", in: "query", required: true, schema: { type: "integer" } }],
          responses: {
            200: data({ type: "array", items: thing }, { next: { type: ["string", "null"] } }),
          },
        },
        post: {
          operationId: "createThing",
          parameters: [{ name: "Idempotency-Key", in: "header" }],
          requestBody: {
            required: true,
            ...json({
              type: "object",
              properties: { name: { type: "string" } },
              required: ["name"],
            }),
          },
          responses: { 201: data(thing) },
        },
      },
      "/api/public/things/{thing_id}": {
        delete: { operationId: "deleteThing", responses: { 204: {} } },
      },
      "/api/public/things/{thing_id}/copies/{copy}": {
        get: {
          operationId: "getCopy",
          parameters: [
            { name: "thing_id", in: "path", required: true, schema: { type: "string" } },
            { name: "copy", in: "path", required: true, schema: { type: "integer" } },
          ],
          responses: { 200: data(thing) },
        },
      },
      "/api/public/things/{thing_id}/export": {
        get: {
          operationId: "exportThing",
          parameters: [{ name: "format", in: "query", schema: { enum: ["json", "yaml"] } }],
          responses: {
            200: {
              content: {
                ...json(thing).content,
                "application/yaml": { schema: { type: "string" } },
                "text/event-stream": {},
                "text/html": {},
              },
            },
          },
        },
      },
      "/api/public/things/import": {
        post: {
          operationId: "importThing",
          requestBody: { content: { ...json(thing).content, "application/yaml": {} } },
          responses: { 200: { content: { "application/jsonl": { schema: thing } } } },
        },
      },
      "/api/public/sign-out": {
        post: { operationId: "signOut", security: [{ session: [] }], responses: { 204: {} } },
      },
      "/api/public/things/{thing_id}/icon": {
        put: {
          operationId: "putIcon",
          requestBody: { required: true, content: { "image/png": {} } },
          responses: { 204: {} },
        },
        get: {
          operationId: "getIcon",
          security: [],
          responses: { 200: { content: { "image/png": {} } } },
        },
      },
    },
  };
  const files = await generateClient(document as unknown as OpenapiDocument);
  const operations = files["client/src/generated/operations.ts"]?.replaceAll(/\s+/g, " ");
  for (const signature of [
    "list: ( query: ListThingsQuery, options?: CallOptions & { readonly beckonWorkspace?: string | number | undefined; }, ): Listing<Thing> =>",
    "create: ( body: CreateThingBody, options?: OnceOptions & { readonly beckonWorkspace?: string | number | undefined; }, ): Promise<Thing> =>",
    "delete: (thingId: string, options?: CallOptions): Promise<void> =>",
    "get: (thingId: string, copy: number | string, options?: CallOptions): Promise<Thing> =>",
    "export: (thingId: string, options?: CallOptions): Promise<Thing> =>",
    "exportYaml: (thingId: string, options?: CallOptions): Promise<string> =>",
    'query: { format: "yaml" }, accept: "application/yaml"',
    "import: (body?: Thing | string, options?: CallOptions): AsyncIterable<Thing> =>",
    "putIcon: ( thingId: string, body: Blob | Uint8Array<ArrayBuffer> | string, options?: CallOptions, ): Promise<void> =>",
    "getIcon: (thingId: string, options?: CallOptions): Promise<Blob> =>",
    'path: "/things/{thing_id}/icon", params: [thingId], open: true',
    'signOut: (options?: CallOptions): Promise<void> => send.nothing({ method: "POST", path: "/sign-out", open: true }',
    "List things *\\/ evil.",
  ]) {
    expect(operations).toContain(signature);
  }
  expect(operations).not.toContain("isAlive");
  expect(operations).not.toContain("exportHtml");
  const schemas = files["client/src/generated/schemas.ts"]?.replaceAll(/\s+/g, " ");
  expect(schemas).toContain("export interface ErrorAnswer");
  expect(schemas).toContain('"odd-name"?: ThingPart0; metadata?: { [k: string]: unknown; };');
  expect(schemas).toContain("export type ThingPart0 = string | ThingPart0[];");
});
