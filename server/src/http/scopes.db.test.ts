import { scopes } from "@beckon/contract";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { managedRoutes } from "./api/index.ts";

/**
 * Sends requests to every route of the management API with keys that have a single scope. The
 * server must accept only the scope that the route declares. If a route declares two scopes, the
 * server must accept only a key that has both.
 */

const beckon = await startTestBeckon();
const keys = new Map(
  await Promise.all(
    scopes.map(async (scope) => [scope, await insertKey(beckon, { scopes: [scope] })] as const),
  ),
);
const none = await insertKey(beckon, { scopes: [] });

/**
 * Requests an unknown resource and, except with GET, sends an invalid body. So nothing changes even
 * if the caller has the scope: requests other than GET fail at the resource or the body.
 */
const send = (method: string, path: string, credential: string | undefined) =>
  beckon.call(path.replaceAll(/:\w+/g, "none"), {
    method,
    credential: credential ?? null,
    ...(method === "GET" ? {} : { body: { nonsense: 1 } }),
  });

const routesByScopes = Map.groupBy(managedRoutes, ({ alsoNeeds }) =>
  alsoNeeds === undefined ? "one" : "two",
);

test.each(
  (routesByScopes.get("two") ?? []).map(
    ({ method, path, permission, alsoNeeds }) => [method, path, permission, alsoNeeds] as const,
  ),
)("%s %s is allowed by %s and %s only", async (method, path, one, other) => {
  for (const key of [...keys.values(), none])
    expect((await send(method, path, key)).status).toBe(403);
  const both = await insertKey(beckon, { scopes: [one, other ?? one] });
  expect((await send(method, path, both)).status).toBeOneOf([200, 400, 404]);
  const others = scopes.filter((scope) => scope !== one && scope !== other);
  for (const scope of [one, other ?? one]) {
    const key = await insertKey(beckon, { scopes: [...others, scope] });
    expect((await send(method, path, key)).status).toBe(403);
  }
});

test.each(
  (routesByScopes.get("one") ?? []).map(
    ({ method, path, permission }) => [method, path, permission] as const,
  ),
)("%s %s is allowed by %s only", async (method, path, permission) => {
  const answers = await Promise.all(
    scopes.map(async (scope) => [scope, await send(method, path, keys.get(scope))] as const),
  );
  const opened = answers.filter(([, { status }]) => status !== 403);
  expect(opened.map(([scope]) => scope)).toEqual([permission]);
  expect(opened[0]?.[1].status).toBeOneOf([200, 400, 404]);
  expect((await send(method, path, none)).status).toBe(403);
  expect((await send(method, path, undefined)).status).toBe(401);
});

test("every scope except agents:invoke allows a management route", () => {
  const declared = new Set(managedRoutes.map(({ permission }) => permission));
  expect(scopes.filter((scope) => !declared.has(scope))).toEqual(["agents:invoke"]);
});
