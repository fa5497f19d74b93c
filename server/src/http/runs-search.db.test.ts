import { afterAll, describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startModelServer, status } from "../../test/model-server.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const models = await startModelServer();
afterAll(() => models.close());
models.script((request, index) =>
  status(400, {
    body: JSON.stringify({
      error: { message: `Odd 100%_\\ input: ${request.body.messages.at(-1)?.content}` },
    }),
  })(request, index),
);
const provider = await beckon.createProvider(models.url);

const idsOf = ({ body }: Answer): string[] => body.data.map((run: { id: string }) => run.id);
const search = async (query: Record<string, string>, credential = beckon.key) =>
  idsOf(await beckon.call(`/runs?${new URLSearchParams(query)}`, { credential }));
const runOf = async (id: string) => (await beckon.call(`/runs/${id}`)).body.data;

/** Creates an agent whose runs succeed and one whose runs fail, and executes one run of each. */
async function twoRuns() {
  const [good, bad] = [
    await beckon.createAgent(),
    await beckon.createAgent({ model: `${provider.name}/scripted` }),
  ];
  const succeeded: string = (await beckon.invoke(good, "fine")).body.run_id;
  const failed: string = (await beckon.invoke(bad, "broken")).body.run_id;
  return { good, bad, succeeded, failed };
}

describe("a search of runs", () => {
  test("by agent finds the runs of that agent", async () => {
    const { good, succeeded } = await twoRuns();
    expect(await search({ agent_id: good.id })).toEqual([succeeded]);
  });

  test("by an unknown agent finds none", async () => {
    expect(await search({ agent_id: "agt_00000000000000000000000000" })).toEqual([]);
  });

  test("by agent also finds the runs of a deleted one", async () => {
    const { good, succeeded } = await twoRuns();
    await beckon.call(`/agents/${good.id}`, { method: "DELETE" });
    expect(await search({ agent_id: good.id })).toEqual([succeeded]);
  });

  test("by state finds runs in that state, or in one of several", async () => {
    const { bad, failed, good, succeeded } = await twoRuns();
    expect(await search({ agent_id: bad.id, status: "failed" })).toEqual([failed]);
    expect(await search({ agent_id: good.id, status: "failed,cancelled" })).toEqual([]);
    expect(await search({ agent_id: good.id, status: "failed,succeeded" })).toEqual([succeeded]);
  });

  test("by state finds queued and executing runs", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({
      model: held.model,
      limits: { max_concurrent_runs: 1 },
    });
    const running = (await beckon.invoke(agent, "executing", { prefer: "respond-async" })).body
      .run_id;
    await held.reached(1);
    const queued = (await beckon.invoke(agent, "waiting", { prefer: "respond-async" })).body.run_id;
    expect(await search({ agent_id: agent.id, status: "queued" })).toEqual([queued]);
    expect(await search({ agent_id: agent.id, status: "running" })).toEqual([running]);
    expect(await search({ agent_id: agent.id, status: "running,queued" })).toEqual([
      queued,
      running,
    ]);
  });

  test("by source and by trigger finds runs from that source", async () => {
    const agent = await beckon.createAgent();
    const [one, other] = [
      await beckon.createTrigger(agent.id),
      await beckon.createTrigger(agent.id),
    ];
    const invoked = (await beckon.invoke(agent, "Hello")).body.run_id;
    const fired = (await beckon.call(one.url, { credential: null, body: "Hello" })).body.run_id;
    await beckon.call(other.url, { credential: null, body: "Hello" });
    expect(await search({ agent_id: agent.id, source: "invoke" })).toEqual([invoked]);
    expect(await search({ agent_id: agent.id, source: "trigger" })).toHaveLength(2);
    expect(await search({ agent_id: agent.id, source: "trigger,invoke" })).toHaveLength(3);
    expect(await search({ trigger_id: one.id })).toEqual([fired]);
  });

  test.each(["broken", "BROKEN", "model_error", "100%", "%_\\", "Odd 100"])(
    "by the text of the error finds %j in it",
    async (error) => {
      const { bad, failed } = await twoRuns();
      expect(await search({ agent_id: bad.id, error })).toEqual([failed]);
    },
  );

  test.each(["b%n", "brok_n", "fine", "\\\\"])(
    "by the text of the error finds nothing for %j, which is not in it",
    async (error) => {
      const { bad } = await twoRuns();
      expect(await search({ agent_id: bad.id, error })).toEqual([]);
    },
  );

  test.each(["fine", "FINE", "in"])("by text finds %j in the input", async (text) => {
    const { good, succeeded } = await twoRuns();
    expect(await search({ agent_id: good.id, text })).toEqual([succeeded]);
    expect(idsOf(await beckon.call(`/agents/${good.id}/runs?text=${text}`))).toEqual([succeeded]);
  });

  test("by text finds it in the output", async () => {
    const agent = await beckon.createAgent({ tools: [{ type: "clock" }] });
    const { run_id } = (await beckon.invoke(agent, "/call clock {}")).body;
    expect(await search({ agent_id: agent.id, text: "Clock answered" })).toEqual([run_id]);
  });

  test.each(["f%", "f_ne", "broken", "\\", "model_error"])(
    "by text finds nothing for %j, which is not in it",
    async (text) => {
      const { good } = await twoRuns();
      expect(await search({ agent_id: good.id, text })).toEqual([]);
    },
  );

  test("by text applies together with other filters", async () => {
    const { bad, failed } = await twoRuns();
    const query = { agent_id: bad.id, text: "broken" };
    expect(await search({ ...query, status: "failed", error: "odd" })).toEqual([failed]);
    expect(await search({ ...query, status: "succeeded" })).toEqual([]);
    expect(await search({ ...query, error: "even" })).toEqual([]);
    expect(await search({ ...query, created_before: "2020-01-01T00:00:00Z" })).toEqual([]);
    expect(await search({ ...query, view: "summary" })).toEqual([failed]);
  });

  test("by text continues with the same text only", async () => {
    const agent = await beckon.createAgent();
    const runs: string[] = [];
    for (let index = 0; index < 3; index++)
      runs.unshift((await beckon.invoke(agent, "needle")).body.run_id);
    const query = `agent_id=${agent.id}&text=needle&limit=2`;
    const first = await beckon.call(`/runs?${query}`);
    const second = await beckon.call(`/runs?${query}&after=${first.body.next}`);
    expect([idsOf(first), idsOf(second), second.body.next]).toEqual([
      runs.slice(0, 2),
      runs.slice(2),
      null,
    ]);
    for (const other of [query.replace("needle", "hay"), query.replace("&text=needle", "")]) {
      expectError(
        await beckon.call(`/runs?${other}&after=${first.body.next}`),
        400,
        "bad_request",
        /cursor/,
      );
    }
  });

  test("by time includes the first moment and excludes the last", async () => {
    const { good, succeeded } = await twoRuns();
    const { created_at } = await runOf(succeeded);
    const at = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString();
    const between = (from: number, to: number) =>
      search({ agent_id: good.id, created_after: at(from), created_before: at(to) });
    expect(await between(0, 1)).toEqual([succeeded]);
    expect(await between(-60_000, 0)).toEqual([]);
    expect(await between(1, 60_000)).toEqual([]);
    expect(await between(-3_600_000, 3_600_000)).toEqual([succeeded]);
  });

  test("accepts times of any zone", async () => {
    const { good, succeeded } = await twoRuns();
    expect(
      await search({
        agent_id: good.id,
        created_after: "2020-01-01T00:00:00+05:30",
        created_before: "2100-01-01T00:00:00-08:00",
      }),
    ).toEqual([succeeded]);
  });

  test.each(["/runs?created_after=", "/audit?since=", "/usage?to=2026-02-01T00:00:00Z&from="])(
    "%s accepts a time whose + is not percent-encoded",
    async (path) => {
      expect((await beckon.call(`${path}2026-01-31T00:00:00+02:00`)).status).toBe(200);
    },
  );

  test("of one agent accepts the other filters", async () => {
    const { bad, failed } = await twoRuns();
    expect(idsOf(await beckon.call(`/agents/${bad.id}/runs?status=failed&error=broken`))).toEqual([
      failed,
    ]);
    expect(idsOf(await beckon.call(`/agents/${bad.id}/runs?status=succeeded`))).toEqual([]);
  });

  test("continues page by page, with the same filter only", async () => {
    const agent = await beckon.createAgent({ model: `${provider.name}/scripted` });
    const runs: string[] = [];
    for (let index = 0; index < 3; index++)
      runs.unshift((await beckon.invoke(agent, "broken")).body.run_id);
    const query = `agent_id=${agent.id}&status=failed&error=broken&limit=2`;
    const first = await beckon.call(`/runs?${query}`);
    const second = await beckon.call(`/runs?${query}&after=${first.body.next}`);
    expect([idsOf(first), idsOf(second), second.body.next]).toEqual([
      runs.slice(0, 2),
      runs.slice(2),
      null,
    ]);
    const changed = query.replace("broken", "other");
    expectError(
      await beckon.call(`/runs?${changed}&after=${first.body.next}`),
      400,
      "bad_request",
      /cursor/,
    );
  });

  test("returns only its agent's runs to an agent token, whatever the filter", async () => {
    const { good, bad, succeeded } = await twoRuns();
    expect(await search({}, good.token)).toEqual([succeeded]);
    expect(await search({ agent_id: bad.id }, good.token)).toEqual([]);
    expect(await search({ error: "broken" }, good.token)).toEqual([]);
  });

  test("returns only their runs to a key that is limited to agents", async () => {
    const { good, bad, succeeded, failed } = await twoRuns();
    await twoRuns();
    const credential = await insertKey(beckon, { agentIds: [good.id, bad.id] });
    expect(await search({}, credential)).toEqual([failed, succeeded]);
    expect(await search({ error: "broken" }, credential)).toEqual([failed]);
    expect(await search({ text: "broken" }, credential)).toEqual([failed]);
    expect(await search({ text: "broken" }, good.token)).toEqual([]);
    const another = await insertKey(beckon, { agentIds: [good.id] });
    expect(await search({ agent_id: bad.id }, another)).toEqual([]);
  });

  test("returns nothing to another workspace", async () => {
    const { bad } = await twoRuns();
    const stranger = await insertStranger(beckon);
    for (const query of [
      { agent_id: bad.id },
      { error: "broken" },
      { text: "broken" },
      { status: "failed" },
    ])
      expect(await search(query, stranger)).toEqual([]);
  });
});

test.each([
  ["status", "done"],
  ["status", ""],
  ["status", "failed,"],
  ["source", "email"],
  ["error", ""],
  ["error", "x".repeat(201)],
  ["error", "a\0b"],
  ["text", ""],
  ["text", "x".repeat(201)],
  ["text", "a\0b"],
  ["agent_id", ""],
  ["trigger_id", "x".repeat(101)],
  ["created_after", "yesterday"],
  ["created_after", "2026-01-31"],
  ["created_before", "1769851800"],
  ["created_before", "2026-01-31T09:30:00"],
])("%s cannot be %j", async (member, value) => {
  const answer = await beckon.call(`/runs?${new URLSearchParams({ [member]: value })}`);
  expectError(answer, 400, "bad_request", new RegExp(member));
});

test.each(["cancel", "delete"])("the runs to %s cannot be selected by text", async (change) => {
  expectError(
    await beckon.call(`/runs/${change}`, { body: { filter: { text: "Hello" } } }),
    400,
    "bad_request",
    /unknown field filter\.text/,
  );
});

test("the runs of one agent cannot be filtered by agent", async () => {
  const { id } = await beckon.createAgent();
  expectError(
    await beckon.call(`/agents/${id}/runs?agent_id=${id}`),
    400,
    "bad_request",
    /unknown query parameter agent_id /,
  );
});
