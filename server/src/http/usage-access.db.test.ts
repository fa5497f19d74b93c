import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { seedAgent, seedTrigger } from "../../test/tenant.ts";
import { createUsageWorkspace, june, noon, nothing } from "../../test/usage-workspace.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const workspace = (options?: { timeZone: string }) => createUsageWorkspace(beckon, options);

describe("access", () => {
  test("a key that is limited to agents gets their usage only", async () => {
    const { workspaceId, agent, get, usage, add } = await workspace();
    const other = await seedAgent(database, { workspaceId });
    await add([{ ...noon("2026-06-10"), tags: ["mine"] }]);
    await add([{ ...noon("2026-06-10"), model: "secret", tags: ["theirs"] }], other);
    const limited = await insertKey(beckon, { workspaceId, agentIds: [agent.agentId] });
    for (const group_by of ["day", "agent", "model", "caller", "metric", "hour", "tag"]) {
      const { rows, totals } = await usage({ ...june, group_by }, limited);
      expect([rows.length, totals.entries]).toEqual([1, 1]);
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`secret|theirs|${other.agentId}`));
    }
    expect((await usage({ ...june, agent_id: agent.agentId }, limited)).totals.entries).toBe(1);
    expectError(
      await get({ agent_id: other.agentId }, limited),
      404,
      "not_found",
      /no agent with this id/,
    );
  });

  test("names are shown to those who can read what they belong to", async () => {
    const { workspaceId, agent, key, usage, add } = await workspace();
    const { triggerId } = await seedTrigger(database, agent);
    const member = await addPerson(beckon, { role: "viewer", key });
    const limitedTo = async (agentIds: readonly string[]) => {
      const secret = await insertKey(beckon, { workspaceId, agentIds });
      const { rows } = await database.engine.query<{ id: string }>(
        "select id from keys where workspace_id = $1 order by id desc limit 1",
        [workspaceId],
      );
      return { secret, principal: `key:${rows[0]?.id}` };
    };
    const other = await seedAgent(database, { workspaceId });
    const own = await limitedTo([agent.agentId]);
    const wider = await limitedTo([agent.agentId, other.agentId]);
    const principals = {
      token: `token:${agent.agentId}`,
      trigger: `trigger:${triggerId}`,
      user: `user:${member.id}`,
      own: own.principal,
      wider: wider.principal,
    };
    await add(Object.values(principals).map((principal) => ({ ...noon("2026-06-10"), principal })));
    const named = async (credential: string) => {
      const query = { ...june, group_by: "caller,agent" };
      const { rows } = await usage(query, credential);
      expect(rows).toHaveLength(5);
      return Object.entries(principals)
        .filter(([, principal]) =>
          rows.some(
            (row: { caller: string; caller_name: string | null }) =>
              row.caller === principal && row.caller_name !== null,
          ),
        )
        .map(([name]) => name);
    };
    const withScopes = (...scopes: string[]) =>
      insertKey(beckon, { workspaceId, scopes: ["usage:read", ...scopes] });
    expect(await named(key)).toEqual(["token", "trigger", "user", "own", "wider"]);
    expect(await named(await withScopes())).toEqual([]);
    expect(await named(await withScopes("agents:read"))).toEqual(["token"]);
    expect(await named(await withScopes("triggers:read"))).toEqual(["trigger"]);
    expect(await named(await withScopes("keys:read"))).toEqual(["own", "wider"]);
    expect(await named(await withScopes("members:read"))).toEqual(["user"]);
    expect(await named(own.secret)).toEqual(["token", "trigger", "own"]);
    const { rows } = await usage({ ...june, group_by: "agent" }, await withScopes());
    expect(rows[0].agent_name).toBeNull();
  });

  test("the token of an agent cannot read usage", async () => {
    const agent = await beckon.createAgent();
    expectError(
      await beckon.call("/usage", { credential: agent.token }),
      403,
      "forbidden",
      /Use a workspace key/,
    );
  });

  test("another workspace's usage does not count, nor does its first entry", async () => {
    const { add } = await workspace();
    await add([{ ...noon("2026-06-10"), principal: "key:key_1", tags: ["a"] }]);
    const stranger = await workspace();
    for (const query of [{}, { caller: "key:key_1" }, { tag: "a" }, { model: "demo/echo" }])
      expect(await stranger.usage({ ...june, ...query })).toMatchObject({
        since: null,
        totals: nothing,
        rows: [],
      });
  });
});
