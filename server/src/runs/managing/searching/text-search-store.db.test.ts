import { expect, test } from "vitest";
import { addRun, type GivenRun } from "../../../../test/add-run.ts";
import { testDatabase } from "../../../../test/database.ts";
import { type SeededAgent, seedAgent } from "../../../../test/tenant.ts";
import { inWorkspace } from "../../../base/database/index.ts";
import type { Search } from "./search-store.ts";
import { maxTexts, searchTexts } from "./text-search-store.ts";

const { database } = await testDatabase();

/** Adds `count` ended runs with the input `hay`, and returns their ids, newest first. */
async function addMany({ workspaceId, agentId }: SeededAgent, count: number): Promise<string[]> {
  const { rows } = await database.engine.query<{ id: string }>(
    `with added as (
      insert into runs (id, workspace_id, agent_id, status, fence, last_seq, started_at, finished_at)
      select 'run_' || lpad(n::text, 26, '0'), $1, $2, 'succeeded', 1, 1, now(), now()
      from generate_series(1, $3::int) n returning id
    ), inputs as (
      insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
      select id, $1, 1, 'invoke', 'hay', 'token:x', 1 from added
    )
    select id from added order by id desc`,
    [workspaceId, agentId, count],
  );
  return rows.map(({ id }) => id);
}

const search = (
  { workspaceId }: SeededAgent,
  text: string,
  { maxMs, ...given }: Partial<Search> & { maxMs?: number } = {},
) =>
  inWorkspace(database.tenant, workspaceId, (tx) =>
    searchTexts(
      tx,
      workspaceId,
      { agentIds: undefined, filter: {}, below: undefined, limit: 50, ...given },
      { text, maxMs: maxMs ?? 60_000 },
    ),
  );

test("a search reads the texts of 2,000 runs, and continues below them", async () => {
  const agent = await seedAgent(database);
  const oldest = await addMany(agent, maxTexts + 1).then((runIds) => runIds.at(-1) ?? "");
  await database.engine.query("update run_inputs set payload = 'the needle' where run_id = $1", [
    oldest,
  ]);
  const first = await search(agent, "needle");
  expect(first.runIds).toEqual([]);
  expect(first.nextBelow).toBe(`run_${"2".padStart(26, "0")}`);
  expect(await search(agent, "needle", { below: first.nextBelow })).toEqual({
    runIds: [oldest],
    nextBelow: undefined,
  });

  // Even with a time limit of 0, each search reads the texts of 100 runs.
  let pages = 1;
  const found: string[] = [];
  for (let below: string | undefined; ; pages++) {
    const page = await search(agent, "needle", { below, maxMs: 0 });
    found.push(...page.runIds);
    if (page.nextBelow === undefined) break;
    below = page.nextBelow;
  }
  expect([pages, found]).toEqual([Math.ceil((maxTexts + 1) / 100), [oldest]]);
});

test("pages contain every match once, newest first", async () => {
  const agent = await seedAgent(database);
  const runIds: string[] = [];
  for (let second = 0; second < 7; second++) {
    const createdAt = new Date(Date.UTC(2026, 5, 10, 12, 0, second));
    const input = second === 3 ? "hay" : "needle";
    const runId = await addRun(database, agent, { createdAt, input });
    if (input === "needle") runIds.unshift(runId);
  }
  const seen: string[] = [];
  const nexts: boolean[] = [];
  for (let below: string | undefined; ; ) {
    const page = await search(agent, "needle", { below, limit: 2 });
    seen.push(...page.runIds);
    nexts.push(page.nextBelow !== undefined);
    if (page.nextBelow === undefined) break;
    below = page.nextBelow;
  }
  expect(seen).toEqual(runIds);
  expect(nexts).toEqual([true, true, false]);
});

test.each<[string, GivenRun, string, boolean]>([
  ["input", { input: "Find the NEEDLE" }, "needle", true],
  ["output", { input: "hay", output: "a needle, found" }, "NEEDLE", true],
  ["input that begins with the prefix", { promptPrefix: "Sort:", input: "x" }, "sort:\n\nx", true],
  ["beginning of a large input", { input: `needle${"x".repeat(2_000_000)}` }, "needle", true],
  ["input after 65,536 characters", { input: `${"x".repeat(65_536)}needle` }, "needle", false],
  ["output after 65,536 characters", { output: `${"ä".repeat(65_536)}needle` }, "needle", false],
  ["input with wildcards, as text", { input: "100% of a_b\\c" }, "% OF A_B\\", true],
  ["input without wildcards", { input: "100 of axb" }, "a_b", false],
  ["input without wildcards", { input: "100 of axb" }, "100%axb", false],
  ["input with quotes", { input: 'it\'s $1 -- "q"' }, "'s $1 -- \"", true],
  ["input with other letters", { input: "GRÜSSE, Ωmega 😀" }, "grüsse, ωmega 😀", true],
])("a text is searched in the %s", async (_, given, text, found) => {
  const agent = await seedAgent(database);
  const runId = await addRun(database, agent, given);
  expect((await search(agent, text)).runIds).toEqual(found ? [runId] : []);
});

test("a search with many agents finds the runs of each", async () => {
  const agent = await seedAgent(database);
  const { workspaceId } = agent;
  const agents = [agent];
  for (let index = 0; index < 4; index++) agents.push(await seedAgent(database, { workspaceId }));
  const runIds: string[] = [];
  for (const each of agents) runIds.push(await addRun(database, each, { input: "needle" }));
  const agentIds = agents.slice(1).map(({ agentId }) => agentId);
  expect(new Set((await search(agent, "needle", { agentIds })).runIds)).toEqual(
    new Set(runIds.slice(1)),
  );
});
