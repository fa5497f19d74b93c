import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startReceiver } from "../../test/receiver.ts";
import { startTargetServer } from "../../test/target-server.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent({ tools: [{ type: "clock" }] });
const { body: invoked } = await beckon.invoke(agent, "/call clock {}");
const path = `/runs/${invoked.run_id}/events`;

const seqsOf = ({ body }: Answer): number[] => body.data.map((event: { seq: number }) => event.seq);
const typesOf = ({ body }: Answer): string[] =>
  body.data.map((event: { type: string }) => event.type);
const all = await beckon.call(path);
const numbers = seqsOf(all);
const last = numbers.length;

test("the events of a run are its journal, oldest first", () => {
  // Whether the run was queued first depends on the load of this process.
  expect(typesOf(all).filter((type) => type !== "run.queued")).toEqual([
    "run.started",
    "run.step",
    "run.tool_call",
    "run.tool_result",
    "run.step",
    "run.finished",
  ]);
});

test("an integer that JavaScript cannot represent is kept in events, streams and webhooks", async () => {
  const [target, receiver] = [await startTargetServer(), await startReceiver()];
  const subscription = { url: receiver.url, event_types: ["run.tool_call"] };
  const { id: subscriptionId } = (await beckon.call("/subscriptions", { body: subscription })).body
    .data;
  try {
    const large = '{"id":1234567890123456789}';
    const id = { type: "integer" };
    const parameters = { type: "object", properties: { id }, required: ["id"] };
    const read = { name: "read", description: "Reads", method: "GET", parameters };
    const operations = [{ ...read, url: `${target.url}/orders/{id}` }];
    const caller = await beckon.createAgent({
      tools: [{ type: "http", name: "shop", allowed_hosts: [target.host], operations }],
    });
    const { run_id: runId } = (await beckon.invoke(caller, `/call read ${large}`)).body;
    const textOf = async (to: string, accept: string) => {
      const headers = { "x-api-key": beckon.key, accept };
      return (await fetch(`${beckon.url}/api/public${to}`, { headers })).text();
    };
    const events = `/runs/${runId}/events`;
    const [call] = JSON.parse(await textOf(events, "application/json")).data.filter(
      ({ type }: { type: string }) => type === "run.tool_call",
    );
    const [delivery] = await receiver.awaitCount(1);
    const { data: deliveries } = (await beckon.call(`/runs/${runId}/deliveries`)).body;
    for (const text of [
      await textOf(events, "application/json"),
      await textOf(events, "text/event-stream"),
      await textOf(`${events}/${call.seq}`, "application/json"),
      // The workspace's events contain the call only after all older transactions of the PostgreSQL
      // server have ended.
      await eventually("the call in the workspace's events", async () => {
        const page = await textOf(`/events?agent_id=${caller.id}`, "application/json");
        return page.includes('"run.tool_call"') ? page : undefined;
      }),
      delivery?.text,
      JSON.parse(
        await textOf(`/subscriptions/${subscriptionId}/deliveries/${deliveries[0].id}`, "*/*"),
      ).data.body,
    ])
      expect(text).toContain(`"arguments":${large}`);
  } finally {
    await Promise.all([target.close(), receiver.close()]);
  }
});

test("events are numbered from 1 without gaps", () => {
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test("an event has exactly these fields", () => {
  for (const event of all.body.data) {
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      run_id: invoked.run_id,
      seq: expect.any(Number),
      type: expect.stringMatching(/^run\.[a-z_]+$/),
      version: 1,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.any(Object),
    });
  }
});

test("the last event contains the output", () => {
  expect(all.body.data.at(-1).data).toMatchObject({
    output: expect.stringMatching(/^clock answered: /),
  });
});

test("a run's events are read page by page", async () => {
  const first = await beckon.call(`${path}?limit=4`);
  const second = await beckon.call(`${path}?limit=4&after=${first.body.next}`);
  expect([seqsOf(first), seqsOf(second), second.body.next]).toEqual([
    numbers.slice(0, 4),
    numbers.slice(4),
    null,
  ]);
});

test("there is no next page when the last event is on this one", async () => {
  expect((await beckon.call(`${path}?limit=${last}`)).body.next).toBeNull();
});

test("`after` is the number of the last event that the client has read", async () => {
  expect(seqsOf(await beckon.call(`${path}?after=0`))).toEqual(numbers);
  expect(seqsOf(await beckon.call(`${path}?after=${last - 1}`))).toEqual([last]);
});

test("after the last event there are none", async () => {
  for (const after of [last, last + 1, 2_147_483_647]) {
    expect((await beckon.call(`${path}?after=${after}`)).body).toEqual({
      ok: true,
      data: [],
      next: null,
    });
  }
});

test.each([
  "after=-1",
  "after=first",
  "after=1.5",
  "after=2147483648",
  "limit=0",
  "limit=201",
  "limit=x",
])("%s is rejected", async (query) => {
  expectError(
    await beckon.call(`${path}?${query}`),
    400,
    "bad_request",
    new RegExp(query.split("=")[0] ?? ""),
  );
});

describe("while a run executes", () => {
  async function executing(): Promise<string> {
    const held = await startHeldModel(beckon);
    const busy = await beckon.createAgent({ model: held.model });
    const { body } = await beckon.invoke(busy, "Hello", { prefer: "respond-async" });
    await held.reached(1);
    return `/runs/${body.run_id}/events`;
  }

  test("its events so far are returned at once", async () => {
    const events = await beckon.call(await executing());
    expect([typesOf(events).at(-1), events.body.next]).toEqual(["run.started", null]);
  });

  test("after the last event so far there are none yet", async () => {
    const running = await executing();
    const seen = seqsOf(await beckon.call(running)).at(-1);
    expect((await beckon.call(`${running}?after=${seen}`)).body).toEqual({
      ok: true,
      data: [],
      next: null,
    });
  });
});

test("a run that was queued has an event for that", async () => {
  const held = await startHeldModel(beckon);
  held.release();
  const limited = await beckon.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1 },
  });
  const { body } = await beckon.invoke(limited, "Hello");
  const events = await beckon.call(`/runs/${body.run_id}/events`);
  expect(typesOf(events)).toEqual(["run.queued", "run.started", "run.step", "run.finished"]);
});
