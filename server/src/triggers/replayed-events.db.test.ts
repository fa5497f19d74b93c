import { describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

/**
 * Tests that an event starts one run, even if its sender sends it several times and a person
 * replays it. Most settings are those of a preset with an event id, without its verification.
 */

const beckon = await startTestBeckon();
const receiving = { preset: "svix", verification: { kind: "none" } };

async function paused() {
  const agent = await beckon.createAgent();
  const { id, url } = await beckon.createTrigger(agent.id, { receiving });
  const path = `/agents/${agent.id}/triggers/${id}`;
  const post = (to: string, body: object = {}, headers: Record<string, string> = {}) =>
    beckon.call(to, { method: "POST", body, headers });
  await post(`/agents/${agent.id}/pause`);
  return {
    path,
    /** Sends the event as its sender does at each attempt. */
    send: (event: string, labels: Record<string, string> = {}) =>
      beckon.call(url, {
        method: "POST",
        credential: null,
        body: { event },
        headers: { "svix-id": event, ...labels },
      }),
    resume: () => post(`/agents/${agent.id}/resume`),
    replay: (requestId: string, headers?: Record<string, string>) =>
      post(`${path}/requests/${requestId}/replay`, {}, headers),
    replayMany: (outcome?: string, headers?: Record<string, string>) =>
      post(`${path}/requests/replay`, { since: "2026-01-01T00:00:00Z", outcome }, headers),
    requests: async () => (await beckon.call(`${path}/requests`)).body.data,
    runs: async () => (await beckon.call(`/agents/${agent.id}/runs`)).body.data,
  };
}

type Paused = Awaited<ReturnType<typeof paused>>;

test.each([
  ["one request", 201, async ({ replay, requests }: Paused) => replay((await requests())[0].id)],
  ["many", 200, ({ replayMany }: Paused) => replayMany()],
])(
  "a replay of %s gives the run the external id and the tags of the request",
  async (_, status, act) => {
    const trigger = await paused();
    const labels = { "beckon-external-id": "order-4711", "beckon-tags": "billing,urgent" };
    expectError(await trigger.send("one", labels), 409, "agent_paused");
    await trigger.resume();
    expect((await act(trigger)).status).toBe(status);
    expect(await trigger.runs()).toMatchObject([
      { external_id: "order-4711", tags: ["billing", "urgent"] },
    ]);
  },
);

test("a request with a wrong external id fails at a replay as it did at first", async () => {
  const { send, resume, replay, requests, runs } = await paused();
  const wrong = { "beckon-external-id": "100%" };
  await resume();
  expectError(await send("one", wrong), 400, "bad_request");
  expectError(await replay((await requests())[0].id), 400, "bad_request");
  expect(await runs()).toEqual([]);
});

describe("a replay of many", () => {
  test("starts one run of an event that was rejected several times, of its newest request", async () => {
    const { send, resume, replayMany, requests, runs } = await paused();
    for (const event of ["one", "two", "one", "one"])
      expectError(await send(event), 409, "agent_paused");
    const [newest] = await requests();
    await resume();
    expect((await replayMany("rejected")).body.data).toMatchObject({ replayed: 2, skipped: 0 });
    expect((await runs()).map(({ input }: { input: string }) => input)).toEqual([
      '{"event":"one"}',
      '{"event":"two"}',
    ]);
    expect((await requests())[0]).toMatchObject({ replay_of: newest.id, event_id: "one" });
  });

  test("leaves out the rejected attempts of an event that a later attempt has started", async () => {
    const { send, resume, replayMany, runs } = await paused();
    await send("one");
    await resume();
    expect((await send("one")).status).toBe(200);
    expect((await replayMany("rejected")).body.data).toMatchObject({ replayed: 0, skipped: 0 });
    expect((await runs()).length).toBe(1);
    expect((await replayMany()).body.data).toMatchObject({ replayed: 1, skipped: 0 });
    expect((await runs()).length).toBe(2);
  });

  test("binds the event id, so that a later attempt of the sender gets the replay's run", async () => {
    const { send, resume, replayMany, requests, runs } = await paused();
    await send("one");
    await resume();
    await replayMany("rejected");
    const [{ run_id }] = await requests();
    expect((await send("one")).body).toEqual({ ok: true, run_id });
    expect((await replayMany("rejected")).body.data).toMatchObject({ replayed: 0, skipped: 0 });
    expect((await runs()).length).toBe(1);
  });

  test("has the same result if it is repeated with its Idempotency-Key", async () => {
    const { send, resume, replayMany, runs } = await paused();
    for (const event of ["one", "one", "two"]) await send(event);
    await resume();
    const replay = (outcome?: string) => replayMany(outcome, { "idempotency-key": "again" });
    const [first, second] = [await replay("rejected"), await replay("rejected")];
    expect(second.body).toEqual(first.body);
    expect(second.body.data).toMatchObject({ replayed: 2, skipped: 0 });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expectError(await replay(), 422, "idempotency_mismatch");
    expect((await runs()).length).toBe(2);
  });

  test("starts no further run once its trigger is deleted", async () => {
    const { send, resume, replayMany, runs } = await paused();
    for (const event of ["one", "two"]) await send(event);
    await resume();
    const { engine } = beckon.db.database;
    await engine.query(`
      create function delete_trigger() returns trigger language plpgsql security definer as $$
        begin update triggers set deleted_at = now() where id = new.trigger_id; return new; end $$;
      create trigger delete_trigger after insert on received_requests for each row
        when (new.replay_of is not null) execute function delete_trigger()`);
    onTestFinished(async () => {
      await engine.query("drop function delete_trigger cascade");
    });
    expectError(await replayMany(), 404, "not_found", /Runs of 1 requests were started/);
    expect((await runs()).map(({ input }: { input: string }) => input)).toEqual([
      '{"event":"one"}',
    ]);
  });

  test("at the same time as the sender's next attempt starts one run", async () => {
    const { send, resume, replayMany, runs } = await paused();
    const events = Array.from({ length: 10 }, (_, index) => `event ${index}`);
    for (const event of events) await send(event);
    await resume();
    const [replayed, ...sent] = await Promise.all([
      replayMany("rejected"),
      ...events.map((event) => send(event)),
    ]);
    expect([replayed, ...sent].map(({ status }) => status)).toEqual(Array(11).fill(200));
    expect((await runs()).length).toBe(10);
  });
});

describe("a replay of many requests without an event id", () => {
  /** Returns a trigger that has received two requests, with both of which its filter has failed. */
  async function failed() {
    const agent = await beckon.createAgent();
    const { id, url } = await beckon.createTrigger(agent.id, {
      receiving: { filter: "payload.x > 0" },
    });
    const path = `/agents/${agent.id}/triggers/${id}`;
    for (const body of [{ a: 1 }, {}])
      await beckon.call(url, { method: "POST", credential: null, body });
    return {
      setFilter: (filter: string | null) =>
        beckon.call(path, { method: "PATCH", body: { receiving: { filter } } }),
      replay: (requestId: string) =>
        beckon.call(`${path}/requests/${requestId}/replay`, { body: {} }),
      replayMany: async (headers: Record<string, string> = {}) => {
        const body = { since: "2026-01-01T00:00:00Z", outcome: "mapping_error" };
        return (await beckon.call(`${path}/requests/replay`, { body, headers })).body.data;
      },
      requests: async () => (await beckon.call(`${path}/requests`)).body.data,
      /** Returns the inputs of the runs whose filter did not fail, newest first. */
      inputs: async () => {
        const runs: { input: string; error: { code: string } | null }[] = (
          await beckon.call(`/agents/${agent.id}/runs`)
        ).body.data;
        return runs.flatMap(({ input, error }) => (error?.code === "mapping_error" ? [] : [input]));
      },
    };
  }

  test("leaves out what an earlier one has started", async () => {
    const { setFilter, replayMany, inputs } = await failed();
    await setFilter("payload.a > 0");
    expect(await replayMany()).toMatchObject({ replayed: 1, skipped: 1 });
    await setFilter(null);
    expect(await replayMany()).toMatchObject({ replayed: 1, skipped: 0 });
    expect(await inputs()).toEqual(["{}", '{"a":1}']);
  });

  test("leaves out what a replay of one request has started", async () => {
    const { setFilter, replay, replayMany, requests, inputs } = await failed();
    const [newest] = await requests();
    await setFilter(null);
    expect((await replay(newest.id)).status).toBe(201);
    expect(await replayMany()).toMatchObject({ replayed: 1, skipped: 0 });
    expect(await inputs()).toEqual(['{"a":1}', "{}"]);
  });

  test("has the same result if it is repeated with its Idempotency-Key", async () => {
    const { setFilter, replayMany, inputs } = await failed();
    const key = { "idempotency-key": "again" };
    await setFilter("payload.a > 0");
    const first = await replayMany(key);
    expect(first).toMatchObject({ replayed: 1, skipped: 1 });
    await setFilter(null);
    expect(await replayMany(key)).toEqual(first);
    expect(await inputs()).toEqual(['{"a":1}']);
  });
});

describe("a replay of one request", () => {
  test("binds the event id if the event has no run, and starts another run if it has one", async () => {
    const { send, resume, replay, requests, runs } = await paused();
    await send("one");
    await resume();
    const [{ id }] = await requests();
    const first = await replay(id);
    expect(first.status).toBe(201);
    expect((await send("one")).body).toEqual({ ok: true, run_id: first.body.data.id });
    const second = await replay(id);
    expect([second.status, (await runs()).length]).toEqual([201, 2]);
    const events = (await requests()).map(({ event_id, replay_of }: Record<string, unknown>) => [
      event_id,
      replay_of,
    ]);
    expect(events).toEqual([
      [null, id],
      ["one", null],
      ["one", id],
      ["one", null],
    ]);
  });

  test("that has started starts another run", async () => {
    const { send, resume, replay, requests, runs } = await paused();
    await resume();
    await send("one");
    const [{ id, outcome }] = await requests();
    expect([outcome, (await replay(id)).status, (await runs()).length]).toEqual([
      "started",
      201,
      2,
    ]);
  });

  test("returns the first run if it is repeated with its Idempotency-Key", async () => {
    const { send, resume, replay, requests } = await paused();
    await send("one");
    await resume();
    const [{ id }] = await requests();
    const again = () => replay(id, { "idempotency-key": "again" });
    const [first, second] = [await again(), await again()];
    expect(second.body.data.id).toBe(first.body.data.id);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });
});
