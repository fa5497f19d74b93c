import { describe, expect, onTestFinished, test } from "vitest";
import { addRun } from "../../test/add-run.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { says } from "../../test/model-server.ts";
import { openStream } from "../../test/read-stream.ts";
import { seedAgent } from "../../test/tenant.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;

const agentWithClock = await beckon.createAgent({ tools: [{ type: "clock" }] });
const { body: invoked } = await beckon.invoke(agentWithClock, "/call clock {}");
const path = `/runs/${invoked.run_id}/events`;
const { data: journal } = (await beckon.call(path)).body;
const { data: page } = (await beckon.call(`${path}?view=summary`)).body;

/**
 * Waits until this number of events is listed, and returns the response. Events are listed only
 * after all older transactions of the PostgreSQL server have ended, including those of other tests.
 */
const allListed = (query: string, count: number) =>
  eventually(`${count} events`, async () => {
    const { body } = await beckon.call(`/events?${query}`);
    return body.data.length >= count ? body : undefined;
  });

/** Creates a workspace with an agent. `get` sends requests with a key of this workspace. */
async function workspace() {
  const agent = await seedAgent(database);
  const credential = await insertKey(beckon, { workspaceId: agent.workspaceId });
  return { agent, get: (path: string) => beckon.call(path, { credential }) };
}

describe("a summary of runs", () => {
  test("has the first 200 characters of input and output, and the sizes of both", async () => {
    const { agent, get } = await workspace();
    const input = "😀".repeat(300);
    const output = `${"ä".repeat(199)}😀and more`;
    const id = await addRun(database, agent, { input, output });
    const full = (await get(`/runs/${id}`)).body.data;
    for (const list of ["/runs", `/agents/${agent.agentId}/runs`]) {
      expect((await get(`${list}?view=summary`)).body.data).toEqual([
        {
          ...full,
          input: "😀".repeat(200),
          output: `${"ä".repeat(199)}😀`,
          input_bytes: 1_200,
          output_bytes: 398 + 4 + 8,
        },
      ]);
      expect((await get(list)).body.data).toEqual([full]);
      expect((await get(`${list}?view=full`)).body.data).toEqual([full]);
    }
  });

  test.each([
    { promptPrefix: "Sort:", input: "mail" },
    { promptPrefix: "Only the prefix", input: "" },
    { promptPrefix: "", input: "Only the payload" },
    { promptPrefix: "x".repeat(199), input: "y".repeat(10) },
    { promptPrefix: "ä".repeat(300), input: "y" },
  ])("has the prefix and the payload as one input: %j", async (given) => {
    const { agent, get } = await workspace();
    const id = await addRun(database, agent, { ...given, status: "failed" });
    const { input } = (await get(`/runs/${id}`)).body.data;
    expect((await get("/runs?view=summary")).body.data).toMatchObject([
      {
        input: input.slice(0, 200),
        input_bytes: Buffer.byteLength(input),
        output: null,
        output_bytes: null,
      },
    ]);
  });

  test("is small, and reads no whole texts, for 200 MiB of runs", async () => {
    const { agent, get } = await workspace();
    for (let index = 0; index < 200; index++) await addRun(database, agent);
    await database.engine.query(
      "update run_inputs set payload = repeat('x', 524288) where workspace_id = $1",
      [agent.workspaceId],
    );
    await database.engine.query(
      "update run_results set output = repeat('y', 524288) where workspace_id = $1",
      [agent.workspaceId],
    );
    let answer = await get("/runs?limit=1");
    const statements = await executedStatements(async () => {
      answer = await get("/runs?limit=200&view=summary");
    });
    expect([answer.body.data.length, answer.body.next]).toEqual([200, null]);
    expect(JSON.stringify(answer.body).length).toBeLessThan(250_000);
    const selected = statements
      // At the same time, the server claims deliveries. The statements for this select the column
      // `payload` of another table, `subscriptions`.
      .filter((text) => !text.includes("deliveries"))
      .join("\n")
      .replaceAll('"', "")
      .replaceAll(/(left|octet_length)\((run_inputs|run_results)\.\w+/g, "")
      .replaceAll("'' in (run_inputs.prompt_prefix, run_inputs.payload)", "");
    expect(statements.join()).toMatch(/left\("?run_inputs"?\."?payload/);
    expect(selected).not.toMatch(/\bpayload\b|run_results\.output\b/);
  });

  test("continues with the cursor of a full list", async () => {
    const { agent, get } = await workspace();
    for (let second = 0; second < 2; second++)
      await addRun(database, agent, { createdAt: new Date(Date.UTC(2026, 5, 10, 12, 0, second)) });
    const { next } = (await get("/runs?limit=1")).body;
    const rest = (await get(`/runs?limit=1&after=${next}&view=summary`)).body;
    expect([rest.data.length, rest.next]).toEqual([1, null]);
  });
});

describe("summaries of events", () => {
  const read = async (streamed: string) => {
    const reader = await openStream(`${beckon.url}/api/public${streamed}`, {
      credential: beckon.key,
    });
    onTestFinished(() => reader.close());
    return reader;
  };
  const ofType = (events: readonly { type: string }[], type: string) =>
    events.find((event) => event.type === type);

  test("have no texts, arguments and results", () => {
    const text = JSON.stringify(page);
    for (const name of ["text", "arguments", "result", "output"])
      expect(text).not.toContain(`"${name}":`);
    expect(text).not.toContain("clock answered");
  });

  test("have what a waterfall needs", () => {
    const envelopes = (events: { data: unknown }[]) => events.map(({ data: _, ...rest }) => rest);
    expect(envelopes(page)).toEqual(envelopes(journal));
    expect(ofType(page, "run.step")).toMatchObject({
      data: {
        step: 1,
        model: "demo/echo",
        parts: [{ type: "tool_call", tool: "clock", call_id: expect.any(String), bytes: 2 }],
        finish_reason: "tool_calls",
        usage: { input_tokens: expect.any(Number) },
        duration_ms: expect.any(Number),
      },
    });
    expect(ofType(page, "run.tool_result")).toMatchObject({
      data: {
        tool: "clock",
        call_id: expect.any(String),
        outcome: "ok",
        duration_ms: expect.any(Number),
      },
    });
    expect(ofType(page, "run.finished")).toMatchObject({
      data: { usage: expect.any(Object), cost_micros: 0, output_bytes: expect.any(Number) },
    });
  });

  test("are the same in the stream of a run that has ended", async () => {
    const reader = await read(`${path}?view=summary`);
    expect(await reader.over).toBe("ended");
    expect(reader.frames.map(({ data }) => data)).toEqual(page);
  });

  test("are the same in the stream of a run that executes, which has no deltas", async () => {
    const held = await startHeldModel(beckon, says("A secret answer"));
    const agent = await beckon.createAgent({ model: held.model });
    const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    await held.reached(1);
    const running = `/runs/${body.run_id}/events`;
    const [summary, full] = [await read(`${running}?view=summary`), await read(running)];
    await summary.has("run.started");
    expect((await beckon.call(`${running}?view=summary`)).body.data.at(-1).type).toBe(
      "run.started",
    );
    held.release();
    await summary.over;
    await full.over;
    expect(summary.frames.flatMap(({ data }) => ("seq" in data ? [data] : []))).toEqual(
      (await beckon.call(`${running}?view=summary`)).body.data,
    );
    expect(summary.text).not.toContain("secret");
    expect(summary.types).not.toContain("run.output.delta");
    expect(full.text).toContain("secret");
  });

  test("come in pages", async () => {
    const first = await beckon.call(`${path}?view=summary&limit=2`);
    const second = await beckon.call(`${path}?view=summary&limit=200&after=${first.body.next}`);
    expect([...first.body.data, ...second.body.data]).toEqual(page);
    expect([first.body.next, second.body.next]).toEqual(["2", null]);
    expect((await beckon.call(`${path}?view=summary&limit=${page.length}`)).body.next).toBeNull();
  });

  test("do not send whole events from the database", async () => {
    const statements = await executedStatements(async () => {
      await beckon.call(`${path}?view=summary`);
      await beckon.call("/events?view=summary");
    });
    // The server's own claim of deliveries reads events, too.
    const ofEvents = statements.filter(
      (text) =>
        !text.includes("deliveries") && /\bfrom events\b/.test(text) && /version/.test(text),
    );
    expect(ofEvents).toHaveLength(2);
    for (const text of ofEvents) expect(text).toContain("- '{arguments,result,output}'::text[]");
  });

  test("of a workspace are those of its runs, with cursors", async () => {
    const query = `agent_id=${agentWithClock.id}`;
    const full = await allListed(query, journal.length);
    const summaries = (await beckon.call(`/events?${query}&view=summary`)).body;
    expect(summaries).toEqual({
      ...full,
      data: full.data.map((event: { seq: number }) => ({
        ...event,
        data: page[event.seq - 1].data,
      })),
    });
    const reader = await read(`/events?${query}&view=summary&after=${full.data[0].cursor}`);
    await reader.has("run.finished");
    expect(reader.frames.map(({ data }) => data)).toEqual(summaries.data.slice(1));
  });

  test("are not sent to a reader of whole events at the same time, nor the reverse", async () => {
    const agent = await beckon.createAgent();
    const query = `agent_id=${agent.id}`;
    const [summary, full] = await Promise.all([
      read(`/events?${query}&view=summary`),
      read(`/events?${query}`),
    ]);
    await Promise.all([summary.has("stream.opened"), full.has("stream.opened")]);
    const ended = (reader: typeof full, runId: string) =>
      eventually(`the end of ${runId}`, () =>
        reader.frames.find(
          ({ event, data }) =>
            event === "run.finished" && "run_id" in data && data.run_id === runId,
        ),
      );
    // Both streams get the events of the second run from the poller, in one batch: by then, none
    // of them reads the events since its start from the database.
    for (const input of ["Hello", "Hello again"]) {
      const { run_id } = (await beckon.invoke(agent, input)).body;
      await Promise.all([ended(summary, run_id), ended(full, run_id)]);
    }
    const dataOf = (reader: typeof full) => reader.frames.slice(1).map(({ data }) => data);
    const count = dataOf(full).length;
    expect(dataOf(full)).toEqual((await allListed(query, count)).data);
    expect(dataOf(summary)).toEqual((await allListed(`${query}&view=summary`, count)).data);
  });

  test("leave workspace events as they are", async () => {
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}/pause`, { body: { reason: "Holiday" } });
    const query = `agent_id=${id}&kind=agent.paused`;
    const full = await allListed(query, 1);
    expect(full.data).toMatchObject([{ data: { reason: "Holiday" } }]);
    expect((await beckon.call(`/events?${query}&view=summary`)).body).toEqual(full);
  });

  test("lead to one whole event, by its number", async () => {
    for (const event of journal) {
      expect((await beckon.call(`${path}?after=${event.seq - 1}&limit=1`)).body.data).toEqual([
        event,
      ]);
    }
  });

  test("of another workspace's run cannot be read", async () => {
    const { get } = await workspace();
    expectError(await get(`${path}?view=summary`), 404, "not_found");
    expect((await get("/events?view=summary")).body.data).toEqual([]);
  });
});

test.each(["/runs", "/events", "/runs/{run_id}/events", "/agents/{agent_id}/runs"])(
  "the view of %s cannot be another word",
  async (route) => {
    const agent = await beckon.createAgent();
    const { body } = await beckon.invoke(agent, "Hello");
    const path = route.replace("{run_id}", body.run_id).replace("{agent_id}", agent.id);
    for (const view of ["short", "", "SUMMARY"]) {
      expectError(
        await beckon.call(`${path}?view=${view}`),
        400,
        "bad_request",
        /query parameter view must be "full" or "summary"/,
      );
    }
  },
);
