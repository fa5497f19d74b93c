import {
  type BeckonClient,
  createClient,
  type Run,
  type WatchedEvent,
  type WorkspaceEvent,
} from "@beckon/client";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { seeded } from "../server/test/crash/random.ts";
import { eventually } from "../server/test/eventually.ts";
import { startHeldModel } from "../server/test/held-model.ts";
import { says } from "../server/test/model-server.ts";
import { startProxy } from "../server/test/proxy.ts";
import { startReceiver } from "../server/test/receiver.ts";

/** Tests the client with a real server, through a proxy that closes connections early. */

const server = await startTestBeckon({}, { streamLimits: { retryMs: 20 } });
const beckon = createClient({ url: server.url, key: server.key });

// The proxy forwards the bytes of any protocol, but its parameter must be a PostgreSQL URL.
const proxy = await startProxy(server.url.replace("http://", "postgres://"));
afterAll(() => proxy.close());
const throughProxy = createClient({ url: `http://127.0.0.1:${proxy.port}`, key: server.key });

const toInvoke = (bytes: Buffer) => bytes.includes("/invoke");
const runsOf = async (agentId: string): Promise<Run[]> => all(beckon.runs.listForAgent(agentId));

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

const createAgent = (body: Partial<Parameters<BeckonClient["agents"]["create"]>[0]> = {}) =>
  beckon.agents.create({ name: "Test", model: "demo/echo", ...body });

describe("an invoke", () => {
  test("whose response is cut is repeated, gets the same run and executes it once", async () => {
    const held = await startHeldModel(server);
    held.release();
    const agent = await createAgent({ model: held.model });
    const cut = proxy.cutNext({ request: toInvoke, pass: 0 });
    const result = await throughProxy.agents.invoke(
      agent.id,
      { input: "Hello" },
      { token: agent.token },
    );
    await cut;
    expect(result.output).toBe("Hello");
    expect((await runsOf(agent.id)).map(({ id }) => id)).toEqual([result.run_id]);
    expect(held.requests).toHaveLength(1);
  });

  test("succeeds with one run although its connection is cut several times", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const result = throughProxy.agents.invoke(
      agent.id,
      { input: "Hello" },
      { token: agent.token, wait: 1 },
    );
    for (let cuts = 1; cuts <= 3; cuts++) {
      await eventually("a request under way", () => proxy.connections > 0 || undefined);
      await held.reached(1);
      proxy.drop({ hard: true });
    }
    held.release();
    expect(await result).toMatchObject({ output: "Hello" });
    expect(await runsOf(agent.id)).toHaveLength(1);
    expect(held.requests).toHaveLength(1);
  });

  test("is watched to its end by a key that may only invoke, although connections are cut", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const { key } = await beckon.keys.create({ name: "Calls", preset: "invoke" });
    let activity = 0;
    const { run_id, events } = await throughProxy.agents.startAndWatch(
      agent.id,
      { input: "Hello" },
      { key, tags: ["watched"], onActivity: () => void activity++ },
    );
    const seen = all(events);
    for (let cuts = 1; cuts <= 2; cuts++) {
      await eventually("a stream", () => activity > 0 || undefined);
      proxy.drop();
      activity = 0;
    }
    held.release();
    const seqs = (await seen).flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await runsOf(agent.id)).toMatchObject([{ id: run_id, status: "succeeded" }]);
  });

  test("succeeds when the server is reachable again", async () => {
    const agent = await createAgent();
    proxy.drop();
    proxy.weather = { type: "closed" };
    const result = throughProxy.agents.invoke(agent.id, { input: "Hello" }, { token: agent.token });
    setTimeout(() => {
      proxy.weather = { type: "fair" };
    }, 300);
    expect(await result).toMatchObject({ output: "Hello" });
    expect(await runsOf(agent.id)).toHaveLength(1);
  });

  test("that fails with 503 is repeated after Retry-After", async () => {
    const held = await startHeldModel(server);
    held.release();
    const agent = await createAgent({ model: held.model });
    await beckon.agents.invoke(
      agent.id,
      { input: "so that its token is known" },
      { token: agent.token },
    );
    const statuses: number[] = [];
    const counting = createClient({
      url: server.url,
      fetch: async (...request) => {
        const response = await fetch(...request);
        statuses.push(response.status);
        return response;
      },
    });
    const lock = await server.db.database.engine.connect();
    await lock.query("begin");
    await lock.query("lock table runs in share mode");
    const result = counting.agents.invoke(agent.id, { input: "Hello" }, { token: agent.token });
    try {
      await eventually("the 503 response", () => statuses.includes(503) || undefined);
    } finally {
      await lock.query("rollback");
      lock.release();
    }
    expect(await result).toMatchObject({ output: "Hello" });
    expect(held.requests).toHaveLength(2);
  });

  test("throws timed_out with the run id, and the run continues", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const error = await beckon.agents
      // With `wait: 1`, the server sends a response with the run's id after one second. So the
      // client knows the id when its own limit of four seconds is reached.
      .invoke(agent.id, { input: "Hello" }, { token: agent.token, wait: 1, timeout: 4_000 })
      .then(() => undefined)
      .catch((thrown: unknown) => thrown);
    const [run] = await runsOf(agent.id);
    expect(error).toMatchObject({ code: "timed_out", runId: run?.id });
    held.release();
    expect((await all(beckon.runs.watch(run?.id ?? ""))).at(-1)).toMatchObject({
      type: "run.finished",
      data: { output: "Hello" },
    });
  });

  test("of a cancelled run or a paused agent throws the error's code", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const waiting = beckon.agents
      .invoke(agent.id, { input: "Hello" })
      .catch((thrown: unknown) => thrown);
    await held.reached(1);
    const [run] = await runsOf(agent.id);
    await beckon.runs.cancel(run?.id ?? "");
    expect(await waiting).toMatchObject({
      name: "BeckonError",
      code: "cancelled",
      status: 500,
      runId: run?.id,
    });
    await beckon.agents.pause(agent.id, { reason: "Maintenance" });
    await expect(beckon.agents.invoke(agent.id, { input: "Hello" })).rejects.toMatchObject({
      code: "agent_paused",
      status: 409,
    });
  });
});

test("a fire whose response is cut is repeated and starts one run", async () => {
  const agent = await createAgent();
  const trigger = await beckon.triggers.create(agent.id, { name: "Orders" });
  const cut = proxy.cutNext({ request: (bytes) => bytes.includes(trigger.token), pass: 0 });
  const { run_id } = await throughProxy.triggers.fire(trigger.token, { order: 4711 });
  await cut;
  expect((await runsOf(agent.id)).map(({ id }) => id)).toEqual([run_id]);
});

test("each way to start a run can name a callback for the run's final event", async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  await beckon.subscriptions.create({ url: receiver.url, event_types: ["agent.paused"] });
  const agent = await createAgent();
  const trigger = await beckon.triggers.create(agent.id, { name: "Orders", allows_callback: true });
  const to = (name: string) => ({ callback: `${receiver.origin}/${name}` });
  const watched = await beckon.agents.startAndWatch(agent.id, { input: "Hello" }, to("watched"));
  await all(watched.events);
  const started = {
    "/watched": watched,
    "/invoked": await beckon.agents.invoke(agent.id, { input: "Hello" }, to("invoked")),
    "/started": await beckon.agents.start(agent.id, { input: "Hello" }, to("started")),
    "/fired": await beckon.triggers.fire(trigger.url, "Hello", to("fired")),
  };
  const received = await receiver.awaitCount(4);
  expect(new Map(received.map(({ path, body }) => [path, body.data.run_id]))).toEqual(
    new Map(Object.entries(started).map(([path, { run_id }]) => [path, run_id])),
  );
});

describe("a watch", () => {
  const steps = async () => {
    const agent = await createAgent({ tools: [{ type: "clock" }] });
    const { run_id } = await beckon.agents.invoke(agent.id, { input: "/call clock {}" });
    return { runId: run_id, journal: await all(beckon.runs.listEvents(run_id)) };
  };
  const isEntry = (event: WatchedEvent) => "seq" in event;

  test("of a finished run returns its journal after the given event", async () => {
    const { runId, journal } = await steps();
    expect(journal.length).toBeGreaterThan(3);
    expect(await all(beckon.runs.watch(runId))).toEqual(journal);
    expect(await all(beckon.runs.watch(runId, { after: 2 }))).toEqual(journal.slice(2));
    expect(await all(beckon.runs.watch(runId, { after: journal.length }))).toEqual([]);
  });

  test("that is cut at random bytes returns each journal entry once and in order", async () => {
    const { runId, journal } = await steps();
    const random = seeded(Number(process.env.FAST_CHECK_SEED ?? 1));
    for (let round = 0; round < 3; round++) {
      let cuts = 0;
      const cutAgain = async (): Promise<void> => {
        await proxy.cutNext({
          request: (bytes) => bytes.includes("/events"),
          pass: random.below(1_500),
        });
        if (++cuts < 6) await cutAgain();
      };
      void cutAgain();
      expect((await all(throughProxy.runs.watch(runId))).filter(isEntry)).toEqual(journal);
      expect(cuts).toBeGreaterThan(0);
      void proxy.cutNext({ request: () => false, pass: 0 });
    }
  });

  test("returns events live across lost connections and ends with the run", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const { run_id } = await beckon.agents.start(agent.id, { input: "Hello" });
    const seen: WatchedEvent[] = [];
    const watching = (async () => {
      for await (const event of throughProxy.runs.watch(run_id)) seen.push(event);
    })();
    await eventually("the first event", () => seen.length > 0 || undefined);
    for (let cuts = 1; cuts <= 3; cuts++) {
      proxy.drop({ hard: cuts % 2 === 0 });
      await eventually("a connection", () => proxy.connections > 0 || undefined);
    }
    proxy.weather = { type: "closed" };
    proxy.drop();
    held.release();
    await eventually("the end of the run", async () =>
      (await beckon.runs.get(run_id)).finished_at === null ? undefined : true,
    );
    proxy.weather = { type: "fair" };
    await watching;
    expect(seen.filter(isEntry)).toEqual(await all(beckon.runs.listEvents(run_id)));
  });

  test("resumes at another process, which does not execute the run", async () => {
    const other = await server.another({ streamLimits: { retryMs: 20 } });
    try {
      const held = await startHeldModel(server);
      const agent = await createAgent({ model: held.model });
      const { run_id } = await beckon.agents.start(agent.id, { input: "Hello" });
      const here = `http://127.0.0.1:${proxy.port}`;
      let connections = 0;
      const roaming = createClient({
        url: here,
        key: server.key,
        fetch: (url, init) =>
          fetch(String(url).replace(here, connections++ === 0 ? here : other.url), init),
      });
      const seen: WatchedEvent[] = [];
      for await (const event of roaming.runs.watch(run_id)) {
        seen.push(event);
        if (seen.length > 1) continue;
        proxy.drop({ hard: true });
        void eventually("the second connection", () => connections > 1 || undefined).then(
          held.release,
        );
      }
      expect(connections).toBe(2);
      expect(seen.filter(isEntry)).toEqual(await all(beckon.runs.listEvents(run_id)));
    } finally {
      await other.stop();
    }
  });

  test("of all runs of an agent returns each event once and in order across lost connections", async () => {
    const agent = await createAgent();
    const seen: WorkspaceEvent[] = [];
    let opened = false;
    const ends = () => seen.filter(({ type }) => type === "run.finished").length;
    const watching = (async () => {
      for await (const event of throughProxy.events.watch({ agent_id: agent.id })) {
        if ("seq" in event) seen.push(event);
        opened ||= event.type === "stream.opened";
        if (ends() === 3) return;
      }
    })();
    await eventually("the first cursor", () => opened || undefined);
    const runIds: string[] = [];
    for (const hard of [true, false, true]) {
      await eventually("a connection", () => proxy.connections > 0 || undefined);
      proxy.drop({ hard });
      runIds.push((await beckon.agents.invoke(agent.id, { input: "Hello" })).run_id);
    }
    await watching;
    for (const runId of runIds) {
      const journal = seen
        .filter(({ run_id }) => run_id === runId)
        .map(({ agent_id: _, cursor: __, ...event }) => event);
      expect(journal).toEqual(await all(beckon.runs.listEvents(runId)));
    }
    expect(new Set(seen.map(({ run_id }) => run_id))).toEqual(new Set(runIds));
  });

  test("fails without access, and ends when its credential is revoked", async () => {
    const held = await startHeldModel(server);
    const agent = await createAgent({ model: held.model });
    const { run_id } = await beckon.agents.start(agent.id, { input: "Hello" });
    await expect(all(beckon.runs.watch("run_01k00000000000000000000000"))).rejects.toMatchObject({
      status: 404,
      code: "not_found",
    });
    await expect(all(beckon.runs.watch(run_id, { key: "wrong" }))).rejects.toMatchObject({
      status: 401,
      code: "unauthorized",
    });
    const watch = beckon.runs.watch(run_id, { key: agent.token })[Symbol.asyncIterator]();
    // The stream is open when its first event has arrived.
    expect((await watch.next()).done).toBe(false);
    const watching = all({ [Symbol.asyncIterator]: () => watch }).catch(
      (thrown: unknown) => thrown,
    );
    await held.reached(1);
    await beckon.agents.revokeToken(agent.id);
    expect(await watching).toMatchObject({
      name: "BeckonError",
      code: "unauthorized",
      runId: run_id,
    });
  });

  test("returns the model's output while it is generated", async () => {
    const held = await startHeldModel(server, (request, index) => {
      const called = request.body.messages.some(({ role }) => role === "tool");
      return says(called ? "Hello" : { calls: [{ id: "call_1", name: "clock", arguments: "{}" }] })(
        request,
        index,
      );
    });
    const agent = await createAgent({
      model: held.model,
      model_settings: { stream: "always" },
      tools: [{ type: "clock" }],
    });
    const { run_id } = await beckon.agents.start(agent.id, { input: "Hello" });
    let text = "";
    for await (const event of beckon.runs.watch(run_id)) {
      if (event.type === "run.started") held.release();
      if (event.type === "run.output.delta") text += event.data.text;
    }
    expect(text).toBe("Hello");
  });
});

describe("management", () => {
  test("agents, triggers, keys and runs can be created, changed, listed by page and deleted", async () => {
    const agent = await createAgent({ name: "Managed", metadata: { team: "ops" } });
    const trigger = await beckon.triggers.create(agent.id, {
      name: "Orders",
      prompt_prefix: "An order:",
    });
    const fired = [
      await beckon.triggers.fire(trigger.url, { order: 4711 }),
      await beckon.triggers.fire(trigger.token, "plain text"),
      await beckon.triggers.fire(trigger.url),
    ];
    await beckon.triggers.update(agent.id, trigger.id, {
      receiving: { form: { answer: { redirect: "https://example.com/thanks" } } },
    });
    fired.push(await beckon.triggers.fire(trigger.url, { a: 1 }));
    const runs = await eventually("the end of the runs", async () => {
      const list = await all(beckon.runs.listForAgent(agent.id, { limit: 1, status: "succeeded" }));
      return list.length === fired.length ? list : undefined;
    });
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(fired.map(({ run_id }) => run_id)));
    expect(new Set(runs.map(({ input }) => input))).toEqual(
      new Set([
        'An order:\n\n{"order":4711}',
        "An order:\n\nplain text",
        "An order:",
        'An order:\n\n{"a":1}',
      ]),
    );
    const page = await beckon.runs.listForAgent(agent.id, { limit: 2 }).page();
    expect([page.data.length, page.next]).toEqual([2, expect.any(String)]);

    const changed = await beckon.agents.update(
      agent.id,
      { description: "Sorts orders" },
      { ifMatch: agent.version },
    );
    expect(changed.version).toBe(agent.version + 1);
    await expect(
      beckon.agents.update(agent.id, { description: "Too late" }, { ifMatch: agent.version }),
    ).rejects.toMatchObject({
      code: "stale",
      status: 412,
    });
    const rotated = await beckon.agents.rotateToken(agent.id);
    await expect(
      beckon.agents.invoke(agent.id, { input: "Hello" }, { token: agent.token }),
    ).rejects.toMatchObject({
      code: "unauthorized",
    });
    expect(
      await beckon.agents.invoke(agent.id, { input: "Hello" }, { token: rotated.token }),
    ).toMatchObject({ output: "Hello" });

    const key = await beckon.keys.create({ name: "Invoke only", preset: "invoke" });
    expect(
      await beckon.agents.invoke(agent.id, { input: "Hello" }, { key: key.key }),
    ).toMatchObject({ output: "Hello" });
    await expect(beckon.agents.get(agent.id, { key: key.key })).rejects.toMatchObject({
      code: "forbidden",
      status: 403,
    });
    await beckon.keys.delete(key.id);
    await beckon.triggers.delete(agent.id, trigger.id);
    await beckon.agents.delete(agent.id);
    await expect(beckon.agents.get(agent.id)).rejects.toMatchObject({
      code: "not_found",
      status: 404,
    });
    expect((await all(beckon.audit.export())).map(({ action }) => action)).toEqual(
      expect.arrayContaining(["agent.delete"]),
    );
  });

  test("a POST whose response is cut creates the resource once", async () => {
    const cut = proxy.cutNext({
      request: (bytes) => bytes.includes("POST /api/public/agents"),
      pass: 10,
    });
    const agent = await throughProxy.agents.create({ name: "Once only", model: "demo/echo" });
    await cut;
    expect(
      (await all(beckon.agents.list()))
        .filter(({ name }) => name === "Once only")
        .map(({ id }) => id),
    ).toEqual([agent.id]);
  });

  test("an agent can be exported as JSON and YAML and imported again", async () => {
    const agent = await createAgent({ name: "Exported" });
    const json = await beckon.agents.export(agent.id);
    const yaml = await beckon.agents.exportYaml(agent.id);
    expect(yaml).toContain("\n- name: Exported\n");
    await beckon.agents.import(json);
    await beckon.agents.import(yaml);
    expect(
      (await all(beckon.agents.list())).filter(({ name }) => name === "Exported"),
    ).toHaveLength(3);
  });
});
