import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { accountRoutes, managedRoutes } from "./api/index.ts";

/**
 * Each request has two errors that are adjacent in the API's order of errors, which
 * `error-order-start.db.test.ts` lists. The response must be the first of the two.
 */

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const unscoped = await insertKey(beckon, { scopes: ["agents:invoke"] });
const tooLarge = "x".repeat(1_048_577);
const unknownAgent = "/agents/agt_00000000000000000000000000";
const json = { "content-type": "application/json" };

test("the method is checked before the credential", async () => {
  expectError(
    await beckon.call("/agents", { method: "DELETE", credential: null }),
    405,
    "method_not_allowed",
  );
});

test("the path is checked before the credential", async () => {
  expectError(await beckon.call("/nothing", { credential: null }), 404, "not_found");
});

test("the credential is checked before the resource", async () => {
  expectError(await beckon.call(unknownAgent, { credential: "junk" }), 401, "unauthorized");
});

test("the credential is checked before the body", async () => {
  expectError(
    await beckon.call("/agents", { credential: "junk", body: "no JSON" }),
    401,
    "unauthorized",
  );
});

test("the credential is checked before the body's size", async () => {
  expectError(
    await beckon.call("/agents", { credential: "junk", body: tooLarge }),
    401,
    "unauthorized",
  );
});

const resources: readonly (readonly [method: string, path: string])[] = [
  ["GET", unknownAgent],
  ["PATCH", unknownAgent],
  ["DELETE", unknownAgent],
  ["POST", `${unknownAgent}/pause`],
  ["POST", `${unknownAgent}/resume`],
  ["POST", `${unknownAgent}/restore`],
  ["POST", `${unknownAgent}/duplicate`],
  ["GET", `${unknownAgent}/export`],
  ["GET", `${unknownAgent}/versions`],
  ["GET", `${unknownAgent}/versions/1`],
  ["GET", `/agents/${agent.id}/versions/2`],
  ["GET", `/agents/${agent.id}/versions/2/compare`],
  ["POST", `/agents/${agent.id}/versions/2/restore`],
  ["POST", `${unknownAgent}/token/rotate`],
  ["GET", `${unknownAgent}/token`],
  ["DELETE", `${unknownAgent}/token`],
  ["GET", `${unknownAgent}/triggers`],
  ["POST", `${unknownAgent}/triggers`],
  ["GET", `${unknownAgent}/triggers/${trigger.id}`],
  ["GET", `/agents/${agent.id}/triggers/unknown`],
  ["PATCH", `/agents/${agent.id}/triggers/unknown`],
  ["DELETE", `/agents/${agent.id}/triggers/unknown`],
  ["POST", `/agents/${agent.id}/triggers/unknown/rotate`],
  ["POST", `/agents/${agent.id}/triggers/unknown/test`],
  ["GET", `/agents/${agent.id}/triggers/unknown/token`],
  ["GET", `${unknownAgent}/runs`],
  ["GET", "/runs/unknown"],
  ["GET", "/runs/unknown/events"],
  ["POST", "/runs/unknown/cancel"],
  ["POST", "/runs/unknown/retry"],
  ["DELETE", "/runs/unknown"],
  ["GET", "/providers/unknown"],
  ["PATCH", "/providers/unknown"],
  ["DELETE", "/providers/unknown"],
  ["GET", "/prices/unknown"],
  ["PATCH", "/prices/unknown"],
  ["DELETE", "/prices/unknown"],
  ["GET", "/limits/agent/unknown"],
  ["PUT", "/limits/agent/unknown"],
  ["DELETE", "/limits/agent/unknown"],
  ["GET", "/plans/unknown"],
  ["PATCH", "/plans/unknown"],
  ["DELETE", "/plans/unknown"],
  ["PATCH", "/workspace-plans/unknown"],
  ["GET", "/keys/unknown"],
  ["PATCH", "/keys/unknown"],
  ["DELETE", "/keys/unknown"],
  ["POST", "/keys/unknown/rotate"],
];

describe.each(resources)("%s %s", (method, path) => {
  test("checks the scope before the resource", async () => {
    expectError(
      await beckon.call(path, { method, credential: unscoped }),
      403,
      "forbidden",
      /scope/,
    );
  });

  test("returns not_found for an unknown resource", async () => {
    expectError(await beckon.call(path, { method }), 404, "not_found");
  });
});

const withQuery = managedRoutes
  .filter(({ method, doc }) => method === "GET" && doc.query !== undefined)
  .map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`));

describe.each(
  resources.filter(
    ([method, path]) => method === "GET" && withQuery.some((pattern) => pattern.test(path)),
  ),
)("%s %s", (_, path) => {
  test("checks the resource before the query", async () => {
    expectError(await beckon.call(`${path}?limit=none&after=none`), 404, "not_found");
  });
});

describe.each(managedRoutes.filter(({ doc }) => doc.query === undefined))(
  "$method $path",
  ({ method, path }) => {
    test("rejects every query parameter, after the credential and before the resource", async () => {
      const call = (credential: string) =>
        beckon.call(`${path.replaceAll(/:\w+/g, "unknown")}?dry_run=1`, { method, credential });
      expectError(await call("junk"), 401, "unauthorized");
      expectError(
        await call(beckon.key),
        400,
        "bad_request",
        /^unknown query parameter dry_run \(known: none\)/,
      );
    });
  },
);

test.each(accountRoutes.filter(({ doc }) => doc.query === undefined))(
  "$method $path rejects every query parameter",
  async ({ method, path }) => {
    const person = await addPerson(beckon, { role: "viewer" });
    const to = `${path.replaceAll(/:\w+/g, "unknown")}?dry_run=1`;
    expectError(await person.call(to, { method }), 400, "bad_request", /parameter dry_run/);
  },
);

test.each([
  ["/runs?status=failed&status=cancelled", "status"],
  ["/agents?limit=1&limit=1", "limit"],
  [`/agents/${agent.id}?dry_run=1&dry_run=2`, "dry_run"],
])("a query parameter that is given twice is rejected by name: %s", async (path, name) => {
  const message = new RegExp(`^query parameter ${name} is given 2 times\\. .*commas`);
  expectError(await beckon.call(path), 400, "bad_request", message);
});

test("a query parameter that is given twice is rejected in requests of a person, too", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const workspace = `workspace=${defaultWorkspaceId}`;
  for (const path of [`/agents?${workspace}&${workspace}`, "/me?a=1&a=2"])
    expectError(await person.call(path), 400, "bad_request", /is given 2 times/);
});

test("a request that is rejected for a query parameter deletes nothing", async () => {
  const { id } = await beckon.createAgent();
  const to = `/agents/${id}?dry_run=1`;
  expectError(await beckon.call(to, { method: "DELETE" }), 400, "bad_request");
  expect((await beckon.call(`/agents/${id}`)).status).toBe(200);
});

test("a session names its workspace in the query of a GET only", async () => {
  const person = await addPerson(beckon, { role: "editor" });
  const to = `/agents/${agent.id}?workspace=${defaultWorkspaceId}`;
  expect((await person.call(to)).status).toBe(200);
  expectError(
    await person.call(to, { method: "PATCH", body: { description: "x" } }),
    400,
    "bad_request",
    /unknown query parameter workspace/,
  );
});

describe.each(resources.filter(([method]) => method !== "GET"))("%s %s", (method, path) => {
  test("checks the resource before the body", async () => {
    expectError(
      await beckon.call(path, { method, body: "no JSON", headers: json }),
      404,
      "not_found",
    );
  });

  test("checks the resource before the key and the body's size", async () => {
    expectError(
      await beckon.call(path, {
        method,
        body: tooLarge,
        headers: { ...json, "idempotency-key": "large" },
      }),
      404,
      "not_found",
    );
  });
});

test.each(["/agents", "/providers", "/keys", "/plans"])(
  "POST %s checks the scope before the body",
  async (path) => {
    expectError(
      await beckon.call(path, { credential: unscoped, body: "no JSON" }),
      403,
      "forbidden",
    );
  },
);

test.each([
  "/agents",
  "/runs",
  "/providers",
  "/keys",
  "/usage",
  "/limits",
  "/plans",
  "/audit",
  "/audit/export",
])("GET %s checks the scope before the query", async (path) => {
  expectError(await beckon.call(`${path}?limit=none`, { credential: unscoped }), 403, "forbidden");
});

const posts = [
  "/agents",
  "/providers",
  "/keys",
  "/agents/import",
  `/agents/${agent.id}/duplicate`,
  `/agents/${agent.id}/versions/1/restore`,
  `/agents/${agent.id}/pause`,
  `/agents/${agent.id}/resume`,
  `/agents/${agent.id}/token/rotate`,
  `/agents/${agent.id}/triggers`,
  `/agents/${agent.id}/triggers/${trigger.id}/rotate`,
];

describe.each(posts)("POST %s", (path) => {
  test("checks an unusable key before the body", async () => {
    const answer = await beckon.call(path, {
      body: "no JSON",
      headers: { ...json, "idempotency-key": "x".repeat(256) },
    });
    expectError(answer, 400, "bad_request", /Idempotency-Key/);
  });

  test("checks the size of a body with a key before anything else about it", async () => {
    expectError(
      await beckon.call(path, { body: tooLarge, headers: { "idempotency-key": "large" } }),
      413,
      "too_large",
    );
  });
});

test("a key that was used with another body is checked before that body", async () => {
  const headers = { "idempotency-key": "other body" };
  await beckon.call("/agents", { body: { name: "Test", model: "demo/echo" }, headers });
  expectError(
    await beckon.call("/agents", { body: "no JSON", headers: { ...headers, ...json } }),
    422,
    "idempotency_mismatch",
  );
});

test("a stale version is checked before the body", async () => {
  const answer = await beckon.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: "no JSON",
    headers: { ...json, "if-match": '"7"' },
  });
  expectError(answer, 412, "stale");
});
