import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { says, startModelServer, status } from "../../../test/model-server.ts";
import { openStream, type StreamOptions } from "../../../test/read-stream.ts";

const beckon = await startTestBeckon();
const sse = { accept: "text/event-stream" };

type Agent = Awaited<ReturnType<typeof beckon.createAgent>>;

const invoke = async (agent: Agent, input: string, options: StreamOptions = {}) => {
  const reader = await openStream(`${beckon.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input },
    ...options,
  });
  onTestFinished(() => reader.close());
  return reader;
};
const journalOf = async (runId: unknown) => (await beckon.call(`/runs/${runId}/events`)).body.data;
const runOf = ({ headers }: { headers: { location?: string | undefined } }) =>
  headers.location?.split("/").at(-1);
const agent = await beckon.createAgent();

test("an invoke that accepts a stream is answered with its run's events", async () => {
  const reader = await invoke(agent, "Hello there");
  expect(await reader.over).toBe("ended");
  expect(reader.frames.filter(({ id }) => id !== undefined).map(({ data }) => data)).toEqual(
    await journalOf(runOf(reader)),
  );
  expect(reader.frames.at(-1)?.data).toMatchObject({
    type: "run.finished",
    data: { output: "Hello there" },
  });
});

test("who asks for a stream gets it, whatever it would prefer to wait", async () => {
  for (const prefer of ["respond-async", "wait=0"]) {
    const reader = await invoke(agent, "Hello", { headers: { prefer } });
    await reader.over;
    expect([reader.status, reader.types.at(-1), reader.headers["preference-applied"]]).toEqual([
      200,
      "run.finished",
      undefined,
    ]);
  }
});

test("the text comes before the step that holds it", async () => {
  const reader = await invoke(agent, "Hello there");
  await reader.over;
  const types = reader.types.filter((type) => type !== "run.output.delta" && type !== "run.queued");
  expect(types).toEqual([
    "run.started",
    "run.output.start",
    "run.output.end",
    "run.step",
    "run.finished",
  ]);
});

test("a run that fails answers 200 with its events, the last of which says why", async () => {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script(status(401));
  const { name } = await beckon.createProvider(models.url, "failing");
  const failing = await beckon.createAgent({ model: `${name}/scripted` });
  const reader = await invoke(failing, "Hello");
  await reader.over;
  expect([reader.status, reader.frames.at(-1)?.data]).toEqual([
    200,
    expect.objectContaining({
      type: "run.failed",
      data: expect.objectContaining({ error: expect.objectContaining({ code: "model_error" }) }),
    }),
  ]);
});

test("what is refused before there is a run is an error like any other", async () => {
  const call = (options: object) =>
    beckon.call(`/agents/${agent.id}/invoke`, {
      credential: agent.token,
      headers: sse,
      ...options,
    });
  expectError(await call({ body: {} }), 400, "bad_request", /input/);
  expectError(await call({ body: { input: "Hello" }, credential: null }), 401, "unauthorized");
  expectError(
    await call({ body: { input: "Hello" }, headers: { ...sse, "last-event-id": "x" } }),
    400,
    "bad_request",
    /Last-Event-ID/,
  );
  const paused = await beckon.createAgent();
  await beckon.call(`/agents/${paused.id}/pause`, { method: "POST" });
  expectError(
    await beckon.call(`/agents/${paused.id}/invoke`, {
      credential: paused.token,
      body: { input: "Hello" },
      headers: sse,
    }),
    409,
    "agent_paused",
  );
});

test("to resume a stream without an Idempotency-Key starts no run", async () => {
  const idle = await beckon.createAgent();
  const call = (lastEventId: string) =>
    beckon.call(`/agents/${idle.id}/invoke`, {
      credential: idle.token,
      body: { input: "Hello" },
      headers: { ...sse, "last-event-id": lastEventId },
    });
  expectError(await call("2"), 400, "bad_request", /Idempotency-Key/);
  expect((await beckon.call(`/runs?agent_id=${idle.id}`)).body.data).toEqual([]);
});

test("a wrong Last-Event-ID tells nobody whether a credential stands", async () => {
  const headers = { ...sse, "last-event-id": "x" };
  const answer = await beckon.call(`/agents/${agent.id}/invoke`, {
    credential: `${agent.token}x`,
    body: { input: "Hello" },
    headers,
  });
  expectError(answer, 401, "unauthorized");
});

test("a repeat with the same Idempotency-Key joins the run, and goes on where its reader was", async () => {
  const held = await startHeldModel(beckon, says("Hello"));
  const waiting = await beckon.createAgent({ model: held.model });
  const first = await invoke(waiting, "Hello", { headers: { "idempotency-key": "k" } });
  await first.has("run.started");
  const again = await invoke(waiting, "Hello", { headers: { "idempotency-key": "k" } });
  const resumed = await invoke(waiting, "Hello", {
    headers: { "idempotency-key": "k", "last-event-id": first.lastEventId ?? "" },
  });
  held.release();
  await Promise.all([first.over, again.over, resumed.over]);
  expect([again.headers["idempotency-replayed"], again.headers.location]).toEqual([
    "true",
    first.headers.location,
  ]);
  expect(again.seqs).toEqual(first.seqs);
  expect(resumed.seqs).toEqual(first.seqs.slice(-2));
});

test("a repeat after the run is answered with its events, as JSON to who asks for that, and with 204 to who has had them", async () => {
  const headers = { "idempotency-key": "later" };
  const first = await invoke(agent, "Hello", { headers });
  await first.over;
  const again = await invoke(agent, "Hello", { headers });
  await again.over;
  expect(again.seqs).toEqual(first.seqs);
  expect((await beckon.invoke(agent, "Hello", headers)).body).toEqual({
    ok: true,
    run_id: runOf(first),
    output: "Hello",
  });
  const done = await invoke(agent, "Hello", {
    headers: { ...headers, "last-event-id": first.lastEventId ?? "" },
  });
  expect([done.status, done.headers.location]).toEqual([204, first.headers.location]);
});

test("a caller who leaves does not stop the run", async () => {
  const held = await startHeldModel(beckon, says("Hello"));
  const waiting = await beckon.createAgent({ model: held.model });
  const reader = await invoke(waiting, "Hello");
  await held.reached(1);
  reader.close();
  held.release();
  const again = await openStream(`${beckon.url}${reader.headers.location}/events`, {
    credential: waiting.token,
  });
  await again.over;
  expect(again.types.at(-1)).toBe("run.finished");
});

test("a key that may only invoke reads the stream of its own call", async () => {
  const { key } = (
    await beckon.call("/keys", { body: { name: "Test", scopes: ["agents:invoke"] } })
  ).body.data;
  const reader = await invoke(agent, "Hello", { credential: key });
  await reader.over;
  expect(reader.types.at(-1)).toBe("run.finished");
});

test("an invoke that another process executes streams its steps", async () => {
  const api = await beckon.another({ settings: { BECKON_ROLE: "api" } });
  onTestFinished(() => api.stop());
  const reader = await openStream(`${api.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
  });
  await reader.over;
  expect(reader.types).toEqual(["run.queued", "run.started", "run.step", "run.finished"]);
});

/** Texts that would end or begin a line, field or frame of a stream if they were not escaped. */
const hostile = [
  "a\rb",
  "a\r\nb",
  "a\n\ndata: b",
  'a\n\nevent: run.finished\ndata: {"type":"run.finished"}\n\n',
  "a\n\nid: 99\n\n",
  "a\u2028b\u2029c",
  "a\u0000b",
  "a\u0085b\u000bc\u000cd",
  "\ufeffa",
  ": a",
  "</script><!--",
  "a\ud83d\ude00b",
];

test.each(hostile)("output %j arrives as text", async (text) => {
  const held = await startHeldModel(beckon, says(text));
  const hostileAgent = await beckon.createAgent({ model: held.model });
  const reader = await invoke(hostileAgent, text.replaceAll("\u0000", "0"));
  // A reader gets only deltas that are sent after it has subscribed. So the model answers only when
  // the reader has received `run.started`.
  await reader.has("run.started");
  held.release();
  await reader.over;
  const journal = await journalOf(runOf(reader));
  expect(reader.frames.filter(({ id }) => id !== undefined).map(({ data }) => data)).toEqual(
    journal,
  );
  expect(reader.types.filter((type) => type === "run.finished")).toHaveLength(1);
  expect(reader.frames.at(-1)?.data).toMatchObject({
    data: { output: text.replaceAll("\u0000", "\ufffd") },
  });
  const said = reader.frames.flatMap(({ data }) =>
    data.type === "run.output.delta" && "text" in data.data ? [data.data.text] : [],
  );
  expect(said.join("")).toBe(text);
  expect(reader.text).not.toContain("\r");
});
