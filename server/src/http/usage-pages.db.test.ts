import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { seedAgent } from "../../test/tenant.ts";
import { createUsageWorkspace, june, noon } from "../../test/usage-workspace.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;
const workspace = (options?: { timeZone: string }) => createUsageWorkspace(beckon, options);

describe("pages", () => {
  test("have all rows once, in order, each with the totals of all", async () => {
    const { usage, add } = await workspace();
    const models = Array.from({ length: 25 }, (_, index) => `größe.${index}: 😀`);
    await add(models.map((model) => ({ ...noon("2026-06-10"), model, input_tokens: 1 })));
    const query = { ...june, group_by: "model,tag", limit: "10" };
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | null = ""; after !== null; pages++) {
      const data = await usage(after === "" ? query : { ...query, after });
      expect(data.totals.input_tokens).toBe(25);
      seen.push(...data.rows.map(({ model }: { model: string }) => model));
      after = data.next;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual(models.map((model) => `demo/${model}`).sort());
  });

  test("a page that ends with the last row is the last", async () => {
    const { usage, add } = await workspace();
    await add([noon("2026-06-10"), noon("2026-06-11")]);
    expect((await usage({ ...june, limit: "2" })).next).toBeNull();
    expect((await usage({ ...june, limit: "1" })).next).not.toBeNull();
  });

  test("a page has 1,000 rows unless another limit is given", async () => {
    const { usage, add } = await workspace();
    await add(
      Array.from({ length: 1_001 }, (_, index) => ({ ...noon("2026-06-10"), model: `m${index}` })),
    );
    const { rows, next } = await usage({ ...june, group_by: "model" });
    expect(rows).toHaveLength(1_000);
    expect((await usage({ ...june, group_by: "model", after: next })).rows).toHaveLength(1);
  });

  test("the next page has the range of the first, also if it is the default", async () => {
    const { usage, add } = await workspace();
    await add([{ model: "a" }, { model: "b" }]);
    for (const query of [
      { group_by: "model", limit: "1" },
      { group_by: "model", limit: "1", from: new Date(Date.now() - 86_400_000).toISOString() },
    ]) {
      const first = await usage(query);
      const second = await usage({ ...query, after: first.next });
      expect(second).toMatchObject({ from: first.from, to: first.to, next: null });
      expect([...first.rows, ...second.rows].map(({ model }) => model)).toEqual([
        "demo/a",
        "demo/b",
      ]);
    }
  });

  test("a cursor belongs to its parameters, its workspace and its agents", async () => {
    const { workspaceId, agent, get, usage, add } = await workspace();
    await add([noon("2026-06-10"), noon("2026-06-11")]);
    const { next: after } = await usage({ ...june, limit: "1" });
    const limited = await insertKey(beckon, { workspaceId, agentIds: [agent.agentId] });
    const stranger = await workspace();
    const message = /after is not a cursor of this report.*start again without after/;
    for (const answer of [
      await get({ ...june, after, model: "demo/echo" }),
      await get({ after }),
      await get({ ...june, after, group_by: "day" }),
      await get({ ...june, after }, limited),
      await stranger.get({ ...june, after }),
      await get({ ...june, after: "c29tZWN1cnNvcg" }),
    ])
      expectError(answer, 400, "bad_request", message);
    expect((await get({ ...june, after, limit: "5" })).status).toBe(200);
  });
});

describe("CSV", () => {
  test("has all rows with their names, and is a file", async () => {
    const { agent, get, add } = await workspace();
    await add([
      { ...noon("2026-06-10"), input_tokens: 5, cost_micros: null },
      { ...noon("2026-06-11"), output_tokens: 7, cost_micros: 12, estimated: true },
    ]);
    const { status, headers, body } = await get({ ...june, group_by: "day,agent", format: "csv" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toBe(
      'attachment; filename="beckon-usage-2026-06-01-2026-06-30.csv"',
    );
    expect(body).toBe(
      [
        "day,agent_id,agent_name,entries,input_tokens,output_tokens,cached_input_tokens,cache_write_tokens,reasoning_tokens,voice_ms,browser_ms,cost_micros,unknown_cost_entries,estimated_entries",
        `2026-06-10,${agent.agentId},Test,1,5,0,0,0,0,0,0,,1,0`,
        `2026-06-11,${agent.agentId},Test,1,0,7,0,0,0,0,0,12,0,1`,
        "",
      ].join("\r\n"),
    );
  });

  test("of names, models and tags that are formulas has them as text", async () => {
    const { workspaceId, csv, add } = await workspace();
    const formula = '=HYPERLINK("http://evil.example","Click")';
    const other = await seedAgent(database, { workspaceId, name: formula });
    await add([{ ...noon("2026-06-10"), tags: ["@SUM(1)"], provider: "-1+1" }], other);
    const quoted = `"'=HYPERLINK(""http://evil.example"",""Click"")"`;
    expect(await csv({ ...june, group_by: "agent,model" })).toContain(
      `\r\n${other.agentId},${quoted},'-1+1/echo,1,`,
    );
    expect(await csv({ ...june, group_by: "tag" })).toContain("\r\n'@SUM(1),1,");
  });

  test("is not paged, and has at most 50,000 rows", async () => {
    const { workspaceId, agent, get } = await workspace();
    for (const parameter of [{ limit: "10" }, { after: "x" }])
      expectError(
        await get({ format: "csv", ...parameter }),
        400,
        "bad_request",
        /limit and after cannot be combined with format=csv/,
      );
    const fill = (from: number, to: number) =>
      database.engine.query(
        `insert into usage_days (workspace_id, day, agent_id, provider, model, principal, kind, entries,
          input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
          voice_ms, browser_ms, cost_micros, unknown_cost_entries, standard_cost_micros,
          unknown_standard_cost_entries, estimated_entries)
        select $1, '2026-06-10', $2, 'demo', n::text, 'system', 'model', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        from generate_series($3::int, $4::int) n`,
        [workspaceId, agent.agentId, from, to],
      );
    await fill(1, 50_000);
    // On a busy machine, a report can take longer than its limit, and is rejected.
    const report = () =>
      eventually(
        "a report within its limit",
        async () => {
          const response = await get({ ...june, group_by: "model", format: "csv" });
          const isLate = response.status === 503 || /took longer/.test(response.body.error);
          return isLate ? undefined : response;
        },
        90_000,
      );
    expect((await report()).body.trimEnd().split("\r\n")).toHaveLength(50_001);
    await fill(50_001, 50_001);
    expectError(
      await report(),
      400,
      "bad_request",
      /more than 50,000 rows.*Shorten the time range/,
    );
  });
});
