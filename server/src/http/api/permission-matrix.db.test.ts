import { readFile } from "node:fs/promises";
import { type Role, role as roles, scopes } from "@beckon/contract";
import { beforeAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { addPerson, type Person } from "../../../test/people.ts";
import { insertKey } from "../../../test/workspace-key.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";
import { accountRoutes } from "./accounts.ts";
import { managedRoutes } from "./index.ts";
import { renderMatrix } from "./permission-matrix.ts";

/** Compares the published matrix with the server: every route with every role and every scope. */

const beckon = await startTestBeckon();
const published = await readFile(
  new URL("../../../../docs/permissions.md", import.meta.url),
  "utf8",
);

const rows = [...published.matchAll(/^\| `([A-Z]+) (\/\S*)` \| (`[^|]+`) \| (.*) \|$/gm)].map(
  ([, method = "", path = "", needed = "", cells = ""]) => {
    const opens = cells.split(" | ").slice(0, roles.options.length);
    return {
      method,
      path,
      needed: needed.split(", ").map((scope) => scope.slice(1, -1)),
      roles: roles.options.filter((_, index) => opens[index] === "yes"),
    };
  },
);
const personal = [...published.matchAll(/^\| `([A-Z]+) (\/\S*)` \| (anybody|signed in) \|$/gm)].map(
  ([, method = "", path = "", who = ""]) => ({
    method,
    path,
    who,
  }),
);

const people = new Map<Role, Person>();
const keys = new Map<string, string>();
beforeAll(async () => {
  for (const role of roles.options) people.set(role, await addPerson(beckon, { role }));
  for (const scope of scopes) keys.set(scope, await insertKey(beckon, { scopes: [scope] }));
  keys.set("all", await insertKey(beckon, { scopes }));
});

/**
 * A request for resources that do not exist, with a body that no route accepts: the response shows
 * whether the caller is allowed, and nothing changes.
 */
const request = (method: string, path: string) => ({
  path: path.replaceAll(/:\w+/g, (name) =>
    name === ":workspace_id" ? defaultWorkspaceId : "none",
  ),
  options: { method, ...(method === "GET" ? {} : { body: { nonsense: 1 } }) },
});
const allowed = [200, 204, 400, 404];

test("docs/permissions.md is what the routes and roles say", () => {
  expect(renderMatrix(), "run: node script/permissions.ts").toBe(published);
});

test("no route is missing in it", () => {
  const names = (each: readonly { method: string; path: string }[]) =>
    each.map(({ method, path }) => `${method} ${path}`).sort();
  expect(names(rows)).toEqual(
    names([...managedRoutes, { method: "POST", path: "/agents/:agent_id/invoke" }]),
  );
  expect(names(personal)).toEqual(names(accountRoutes));
});

describe.each(rows)("$method $path", ({ method, path, needed, roles: opening }) => {
  const sent = request(method, path);

  test.each(roles.options)("answers an %s as published", async (role) => {
    const { status, body } = (await people.get(role)?.call(sent.path, sent.options)) ?? {};
    expect([role, status]).toEqual([
      role,
      opening.includes(role) ? expect.toSatisfy((code) => allowed.includes(code)) : 403,
    ]);
    if (status === 403) expect(body.error).toContain(role);
  });

  test("answers each scope as published", async () => {
    const opened = await Promise.all(
      scopes.map(async (each) => {
        const { status } = await beckon.call(sent.path, {
          ...sent.options,
          credential: keys.get(each) ?? null,
        });
        expect(status).toBeOneOf([...allowed, 403]);
        return status === 403 ? [] : [each];
      }),
    );
    expect(opened.flat()).toEqual(needed.length === 1 ? needed : []);
    const credential = await insertKey(beckon, { scopes: needed });
    expect((await beckon.call(sent.path, { ...sent.options, credential })).status).toBeOneOf(
      allowed,
    );
  });

  test("answers nobody without a credential", async () => {
    expect((await beckon.call(sent.path, { ...sent.options, credential: null })).status).toBe(401);
  });
});

describe.each(personal.filter(({ path }) => path !== "/sign-out"))(
  "$method $path",
  ({ method, path, who }) => {
    const sent = request(method, path);

    test.each(roles.options)("answers an %s as anybody who is signed in", async (role) => {
      expect((await people.get(role)?.call(sent.path, sent.options))?.status).toBeOneOf(allowed);
    });

    test("answers a key and nobody as published", async () => {
      for (const credential of [keys.get("all") ?? null, null]) {
        const { status } = await beckon.call(sent.path, { ...sent.options, credential });
        expect(status).toBe(who === "anybody" ? 400 : 401);
      }
    });
  },
);
