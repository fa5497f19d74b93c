import { describe, expect, test } from "vitest";
import { type Answer, type CallOptions, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import {
  bodyOf,
  type FilledWorkspace,
  fillTwoWorkspaces,
  pathOf,
  pathParametersOf,
} from "../../test/filled-workspace.ts";
import { openStream } from "../../test/read-stream.ts";
import { readRows } from "../../test/rows-of.ts";
import { type IdPrefix, newId } from "../base/ids.ts";
import { accountRoutes } from "./api/accounts.ts";
import { managedRoutes } from "./api/index.ts";

/**
 * Two workspaces with the same content. Requests to one have ids of the other in the path: every
 * kind of id, for every route. `tenancy-references.db.test.ts` tests ids in queries and bodies.
 */

const beckon = await startTestBeckon();
const [first, second] = await fillTwoWorkspaces(beckon);
const rows = await readRows(beckon.db);

const invoke = {
  method: "POST",
  path: "/agents/:agent_id/invoke",
  doc: { id: "invoke", example: { input: "Hello" } },
} as const;
const routes = [...managedRoutes, invoke];
const membersIn = (path: string) =>
  (path.match(/:\w+/g) ?? []).filter((name) => ![":version", ":scope", ":seq"].includes(name));
const withIds = routes.filter(
  (route) =>
    membersIn(route.path).length > 0 && route.path !== "/workspace-plans/:target_workspace_id",
);

/**
 * Returns path parameters for several requests, each with at least one id from `theirs`: all
 * combinations of ids from `ours` and `theirs`, and further agents and runs of `theirs`.
 */
function foreignChoices(
  path: string,
  ours: FilledWorkspace,
  theirs: FilledWorkspace,
): Record<string, string>[] {
  const names = membersIn(path);
  const choices = Array.from({ length: 2 ** names.length - 1 }, (_, index) =>
    Object.fromEntries(
      names.map((name, place) => [
        name,
        pathParametersOf(((index + 1) >> place) & 1 ? theirs : ours)[name] ?? "",
      ]),
    ),
  );
  const more = [
    { ":agent_id": theirs.deletedAgentId },
    { ":agent_id": theirs.busy.agentId },
    ...theirs.busy.runIds.map((id) => ({ ":run_id": id })),
  ];
  return [
    ...choices,
    ...more.filter((choice) => Object.keys(choice).every((name) => names.includes(name))),
  ];
}

/** Returns a copy of `choice` in which unknown ids replace all ids that are not from `ours`. */
function madeUp(choice: Record<string, string>, ours: FilledWorkspace): Record<string, string> {
  const own = Object.values(pathParametersOf(ours));
  return Object.fromEntries(
    Object.entries(choice).map(([name, id]) => [
      name,
      own.includes(id) ? id : newId(id.slice(0, 3) as IdPrefix),
    ]),
  );
}

async function unharmed(theirs: FilledWorkspace, work: () => Promise<void>): Promise<void> {
  const before = await rows.marks(theirs.id);
  await work();
  expect(await rows.marks(theirs.id)).toEqual(before);
}

/** Returns the response as text without the ids in `choice`, to compare responses for other ids. */
const plain = ({ status, body }: Answer, choice: Record<string, string>) =>
  Object.values(choice).reduce(
    (text, id) => text.replaceAll(id, "…"),
    `${status} ${JSON.stringify(body)}`,
  );

describe.each([
  ["the workspace default", first, second],
  ["another workspace", second, first],
] as const)("from %s", (_, ours, theirs) => {
  const asKey = (path: string, options: CallOptions) =>
    beckon.call(path, { ...options, credential: ours.key });

  describe.each(withIds)("$method $path", (route) => {
    const { method, path } = route;
    const sent = { method, body: bodyOf(route) };

    test("answers a foreign id like an unknown one, and does nothing", async () => {
      await unharmed(theirs, async () => {
        for (const choice of foreignChoices(path, ours, theirs)) {
          const unknown = madeUp(choice, ours);
          for (const call of [asKey, ours.owner.call]) {
            const answer = await call(pathOf(path, ours, choice), sent);
            expectError(answer, 404, "not_found");
            expect(plain(answer, choice)).toBe(
              plain(await call(pathOf(path, ours, unknown), sent), unknown),
            );
          }
        }
      });
    });

    test("rejects the token of an agent, and does nothing", async () => {
      await unharmed(theirs, async () => {
        for (const choice of foreignChoices(path, ours, theirs)) {
          const { status } = await beckon.call(pathOf(path, ours, choice), {
            ...sent,
            credential: ours.agent.token,
          });
          expect(status).toBeOneOf(path === invoke.path ? [401] : [403, 404]);
        }
      });
    });
  });

  test.each(routes)(
    "$method $path rejects a session that names the foreign workspace",
    async (route) => {
      const { method, path } = route;
      const headers = { "beckon-workspace": theirs.id };
      await unharmed(theirs, async () => {
        const named = pathOf(path, theirs);
        if (!path.includes(":workspace_id")) {
          expectError(
            await ours.owner.call(named, { method, headers, body: bodyOf(route) }),
            404,
            "not_found",
          );
        }
        if (method !== "GET") return;
        expectError(
          await ours.owner.call(`${named}?workspace=${theirs.id}`, { headers: {} }),
          404,
          "not_found",
        );
      });
    },
  );

  test.each(managedRoutes.filter(({ path, stream }) => path.includes(":") && stream !== undefined))(
    "$path streams nothing of a foreign workspace",
    async ({ path }) => {
      const reader = await openStream(`${beckon.url}/api/public${pathOf(path, theirs)}`, {
        credential: ours.key,
      });
      expect([reader.status, reader.headers["content-type"]]).toEqual([404, "application/json"]);
      await reader.over;
    },
  );

  test("no session of another person can be ended", async () => {
    const personal = accountRoutes.filter(({ path }) => path.includes(":"));
    expect(personal.map(({ path }) => path)).toEqual(["/sessions/:session_id"]);
    await unharmed(theirs, async () => {
      for (const { method, path } of personal) {
        expectError(await ours.owner.call(pathOf(path, theirs), { method }), 404, "not_found");
      }
    });
  });
});
