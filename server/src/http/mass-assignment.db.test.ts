import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { bodyOf, fillTwoWorkspaces, pathOf } from "../../test/filled-workspace.ts";
import { readRows } from "../../test/rows-of.ts";
import { accountRoutes } from "./api/accounts.ts";
import { managedRoutes } from "./api/index.ts";

/**
 * Sends fields that only the server sets, in the body of every route that has a body. The response
 * must name the rejected field, and nothing must be written.
 */

const beckon = await startTestBeckon();
const [workspace] = await fillTwoWorkspaces(beckon);
const rows = await readRows(beckon.db);

const members = [
  "id",
  "workspace_id",
  "user_id",
  "agent_id",
  "owner",
  "owner_id",
  "role",
  "roles",
  "is_admin",
  "email",
  "email_verified",
  "created_at",
  "updated_at",
  "deleted_at",
  "created_by",
  "version",
  "token",
  "key",
  "hash",
  "sealed",
  "password",
  "bootstrap",
  "scopes",
  "expires_at",
  "last_used_at",
  "principal",
  "status",
  "fence",
  "__proto__",
  "constructor",
];

/** Part of the bodies in `fuller`, whose nested objects must reject unknown fields, too. */
const operation = {
  name: "read",
  description: "Reads",
  method: "GET",
  url: "http://127.0.0.1:9/orders",
};
const tool = {
  type: "http",
  name: "shop",
  allowed_hosts: ["127.0.0.1:9"],
  operations: [operation],
};
const agent = {
  name: "Test",
  model: "demo/echo",
  limits: { max_steps: 1 },
  model_settings: { temperature: 1 },
  tools: [tool],
};
const fuller: Readonly<Record<string, unknown>> = {
  createAgent: agent,
  updateAgent: agent,
  importAgents: { beckon: 1, agents: [{ ...agent, triggers: [{ name: "Test" }] }] },
  createWorkspace: { name: "Test" },
  // The payload is a string, because a payload that is an object can have any fields.
  testTrigger: { payload: "Hello" },
};

type Json = Readonly<Record<string, unknown>>;

/** Returns the paths of all objects in a body, as lists of property names and indexes. */
function objectsIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (value === null || typeof value !== "object") return [];
  const below = Object.entries(value).flatMap(([name, inner]) => objectsIn(inner, [...at, name]));
  return Array.isArray(value) ? below : [at, ...below];
}

/**
 * Returns the body as JSON text with one more field at a path. The function builds text, because an
 * object would lose a field named __proto__.
 */
function withMember(body: unknown, at: readonly string[], member: string): string {
  const [next, ...rest] = at;
  if (Array.isArray(body))
    return `[${body.map((each, index) => (String(index) === next ? withMember(each, rest, member) : JSON.stringify(each)))}]`;
  const given = Object.entries(body as Json).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${name === next ? withMember(value, rest, member) : JSON.stringify(value)}`,
  );
  return `{${[...given, ...(next === undefined ? [`${JSON.stringify(member)}:"x"`] : [])]}}`;
}

/**
 * Returns the names of all fields of a schema, at any depth. The tests do not send these names as
 * unknown fields.
 */
function namesIn(schema: unknown): string[] {
  if (schema === null || typeof schema !== "object") return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "properties"
      ? [...Object.keys(value), ...Object.values(value).flatMap(namesIn)]
      : namesIn(value),
  );
}

const personal = new Set(accountRoutes.map(({ doc }) => doc.id));
const taking = [...managedRoutes, ...accountRoutes].filter(({ doc }) => doc.body !== undefined);

test("every route that creates or changes something documents its body", () => {
  const silent = [...managedRoutes, ...accountRoutes].filter(
    ({ method, doc }) => ["POST", "PUT", "PATCH"].includes(method) && doc.body === undefined,
  );
  expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /sign-out"]);
});

describe.each(taking.map((route) => ({ ...route, id: route.doc.id })))("$method $path", (route) => {
  const { id, method, path, doc } = route;
  const body = fuller[id] ?? bodyOf(route);
  const known = new Set(
    namesIn(z.toJSONSchema(doc.body ?? z.never(), { io: "input", unrepresentable: "any" })),
  );
  const call = personal.has(id)
    ? workspace.owner.call
    : (to: string, options = {}) => beckon.call(to, { ...options, credential: workspace.key });

  test("rejects fields that the server sets, at any depth, and writes nothing", async () => {
    const before = await rows.marks(workspace.id);
    const { rows: counted } = await beckon.db.database.engine.query(
      "select (select count(*) from workspaces) w, (select count(*) from users) u",
    );
    for (const at of objectsIn(body)) {
      // The objects of an OpenAPI document can have any fields.
      if (id === "importHttpTool" && at.length > 0) continue;
      const tried = at.length === 0 ? members : ["id", "workspace_id", "version", "__proto__"];
      for (const member of tried.filter((name) => !known.has(name))) {
        const text = withMember(body, at, member);
        const answer = await call(pathOf(path, workspace), {
          method,
          body: text,
          headers: { "content-type": "application/json" },
        });
        expectError(answer, 400, "bad_request", new RegExp(`${at.join("\\.")}.*\\b${member}\\b`));
      }
    }
    expect(await rows.marks(workspace.id)).toEqual(before);
    const { rows: countedAgain } = await beckon.db.database.engine.query(
      "select (select count(*) from workspaces) w, (select count(*) from users) u",
    );
    expect(countedAgain).toEqual(counted);
  });
});
