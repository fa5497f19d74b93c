import type { WorkspaceEvent } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { openStream, type StreamReader } from "../../test/read-stream.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { newId } from "../base/ids.ts";

const beckon = await startTestBeckon();
const both = "kind=agent.paused,agent.resumed";

const pause = (agent: { id: string }, body: object = {}, options: object = {}) =>
  beckon.call(`/agents/${agent.id}/pause`, { body, ...options });
const resume = (agent: { id: string }) =>
  beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
const run = async (agent: { id: string; token: string }) =>
  (await beckon.invoke(agent, "Hello")).body.run_id as string;

/**
 * Waits until all events so far are listed: pauses a new agent and waits until the event of this
 * pause is listed. Events are listed in the order of their transactions, so all earlier events are
 * listed then, too.
 */
async function allShown(): Promise<void> {
  const last = await beckon.createAgent();
  await pause(last);
  await eventually(
    "the last pause",
    async () => (await shown(`agent_id=${last.id}&kind=agent.paused`)).length > 0 || undefined,
  );
}

/** Returns the events of all pages, from the first event or after a cursor. */
async function shown(
  query: string,
  { credential = beckon.key, from = "" } = {},
): Promise<WorkspaceEvent[]> {
  const events: WorkspaceEvent[] = [];
  for (let after: string | null = from; after !== null; ) {
    const { body } = await beckon.call(`/events?${query}${after && `&after=${after}`}`, {
      credential,
    });
    events.push(...body.data);
    after = body.next;
  }
  return events;
}

const stream = async (query: string, lastEventId?: string): Promise<StreamReader> => {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const reader = await openStream(`${beckon.url}/api/public/events?${query}`, {
    credential: beckon.key,
    headers,
  });
  onTestFinished(() => reader.close());
  if (lastEventId === undefined) await reader.has("stream.opened");
  return reader;
};
const eventsOf = (reader: StreamReader) =>
  reader.frames.flatMap(({ data }) => ("version" in data && "cursor" in data ? [data] : []));

test("a pause and its end are events without a run, returned only to clients that request their kind", async () => {
  const agent = await beckon.createAgent();
  await pause(agent, { reason: "Holiday" });
  await resume(agent);
  const runId = await run(agent);
  await allShown();
  const actor = (await beckon.call(`/audit?target=${agent.id}&action=agent.pause`)).body.data[0]
    .actor;
  const ofAgent = (await shown(both)).filter(({ agent_id }) => agent_id === agent.id);
  expect(ofAgent).toMatchObject([
    {
      run_id: null,
      seq: null,
      type: "agent.paused",
      version: 1,
      data: { reason: "Holiday", actor },
    },
    { run_id: null, seq: null, type: "agent.resumed", version: 1, data: { actor } },
  ]);
  expect(await shown(`agent_id=${agent.id}&${both}`)).toEqual(ofAgent);
  expect(
    (await shown(`agent_id=${agent.id}&kind=agent.resumed,run.finished`)).map(({ type }) => type),
  ).toEqual(["agent.resumed", "run.finished"]);
  const others = await shown(`agent_id=${agent.id}`);
  expect(others.length).toBeGreaterThan(0);
  expect(new Set(others.map(({ run_id }) => run_id))).toEqual(new Set([runId]));
});

test("a page contains only the requested kinds of events, and is filled with them", async () => {
  const workspace = await insertStranger(beckon);
  const credential = { credential: workspace };
  const { data: agent } = (
    await beckon.call("/agents", { ...credential, body: { name: "Test", model: "demo/echo" } })
  ).body;
  for (const reason of ["one", "two"]) await pause(agent, { reason }, credential);
  await beckon.call(`/agents/${agent.id}/resume`, { ...credential, method: "POST" });
  for (let runs = 0; runs < 2; runs++) await beckon.invoke(agent, "Hello");
  await pause(agent, { reason: "three" }, credential);
  await allShown();
  const [ofRuns] = (await beckon.call("/events?limit=1", credential)).body.data;
  expect(ofRuns.type).toMatch(/^run\./);
  const { data, next } = (await beckon.call("/events?limit=3&kind=agent.paused", credential)).body;
  expect(data.map((event: WorkspaceEvent) => event.data.reason)).toEqual(["one", "two"]);
  const rest = await shown("kind=agent.paused", { ...credential, from: next });
  expect(rest.map((event) => event.data.reason)).toEqual(["three"]);
});

test("a request that changes nothing, and a repeat, write no event; another reason writes one", async () => {
  const agent = await beckon.createAgent();
  const ofAgent = async () => {
    await allShown();
    return (await shown(`agent_id=${agent.id}&${both}`)).map(({ data, type }) =>
      "reason" in data ? data.reason : type,
    );
  };
  await resume(agent);
  expect(await ofAgent()).toEqual([]);
  const headers = { "idempotency-key": newId("req") };
  await pause(agent, { reason: "Holiday" }, { headers });
  await pause(agent, { reason: "Holiday" });
  await resume(agent);
  expect(
    (await pause(agent, { reason: "Holiday" }, { headers })).headers.get("idempotency-replayed"),
  ).toBe("true");
  await resume(agent);
  expect(await ofAgent()).toEqual(["Holiday", "agent.resumed"]);
  await pause(agent);
  await pause(agent, { reason: "Audit" });
  await pause(agent, { reason: 7 });
  expect(await ofAgent()).toEqual(["Holiday", "agent.resumed", null, "Audit"]);
});

test("an agent that is imported as paused has no pause event", async () => {
  const document = {
    beckon: 1,
    agents: [{ name: "Paused", model: "demo/echo", paused: true, pause_reason: "Holiday" }],
  };
  const { body } = await beckon.call("/agents/import", { body: document });
  await allShown();
  expect(await shown(`agent_id=${body.data.agents[0].id}&${both}`)).toEqual([]);
});

test("simultaneous pauses and resumptions are listed in the order in which they happened", async () => {
  const agent = await beckon.createAgent();
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      repeatUnavailable(() =>
        index % 2 === 0 ? pause(agent, { reason: `${index}` }) : resume(agent),
      ),
    ),
  );
  await allShown();
  const events = await shown(`agent_id=${agent.id}&${both}`);
  // Each pause has a different reason, so it writes an event even if the agent is paused already. A
  // resumption writes an event only if the agent was paused.
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === "agent.paused")).toHaveLength(20);
  for (const [index, type] of types.entries())
    if (type === "agent.resumed") expect(types[index - 1]).toBe("agent.paused");
  const { paused, pause_reason } = (await beckon.call(`/agents/${agent.id}`)).body.data;
  expect(events.at(-1)).toMatchObject(
    paused ? { type: "agent.paused", data: { reason: pause_reason } } : { type: "agent.resumed" },
  );
});

test("a stream shows them among the events of runs, and can resume after each of them", async () => {
  const agent = await beckon.createAgent();
  const query = `agent_id=${agent.id}&kind=agent.paused,agent.resumed,run.finished`;
  const [reader, ofRuns] = [await stream(query), await stream(`agent_id=${agent.id}`)];
  await run(agent);
  await pause(agent);
  await resume(agent);
  const last = await run(agent);
  await eventually(
    "the last run",
    () => (ofRuns.text.includes(last) && eventsOf(reader).length === 4) || undefined,
  );
  const events = eventsOf(reader);
  expect(events.map(({ type }) => type)).toEqual([
    "run.finished",
    "agent.paused",
    "agent.resumed",
    "run.finished",
  ]);
  expect(ofRuns.types.filter((type) => type.startsWith("agent."))).toEqual([]);
  for (const [index, { cursor }] of events.slice(0, -1).entries()) {
    const resumed = await stream(query, cursor);
    await eventually(
      "the rest",
      () => eventsOf(resumed).length >= events.length - index - 1 || undefined,
    );
    expect(eventsOf(resumed)).toEqual(events.slice(index + 1));
    expect(await shown(query, { from: cursor })).toEqual(events.slice(index + 1));
  }
});

test("a key that is limited to agents sees those of its agents, and none about the whole workspace", async () => {
  const [mine, other] = [await beckon.createAgent(), await beckon.createAgent()];
  const limited = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [mine.id] });
  await pause(other);
  await pause(mine);
  await beckon.db.database.engine.query(
    `insert into workspace_events (id, workspace_id, type, version, data)
      select 'evt_whole', workspace_id, 'agent.paused', 1, '{}' from agents where id = $1`,
    [mine.id],
  );
  await allShown();
  expect((await shown(both)).map(({ id }) => id)).toContain("evt_whole");
  expect((await shown(both, { credential: limited })).map(({ agent_id }) => agent_id)).toEqual([
    mine.id,
  ]);
  expectError(
    await beckon.call(`/events?agent_id=${other.id}&${both}`, { credential: limited }),
    404,
    "not_found",
  );
});

test("an agent's token cannot request them, neither in a page nor in a stream", async () => {
  const { token: credential } = await beckon.createAgent();
  for (const headers of [{}, { accept: "text/event-stream" }]) {
    const answer = await beckon.call("/events?kind=run.finished,agent.paused", {
      credential,
      headers,
    });
    expectError(answer, 403, "forbidden", /agent\.paused/);
  }
});

test("another workspace sees none of ours", async () => {
  const stranger = await insertStranger(beckon);
  await pause(await beckon.createAgent());
  await allShown();
  expect(await shown(both, { credential: stranger })).toEqual([]);
});

test("a cursor at an event that has another position now, as after a restore, is invalid", async () => {
  const agent = await beckon.createAgent();
  await pause(agent);
  await allShown();
  const [{ id, cursor } = { id: "", cursor: "" }] = await shown(`agent_id=${agent.id}&${both}`);
  await beckon.db.database.engine.query(
    "update workspace_events set transaction = transaction - 1 where id = $1",
    [id],
  );
  expectError(await beckon.call(`/events?after=${cursor}&${both}`), 400, "bad_request", /restore/);
  const reset = await stream(both, cursor);
  await reset.has("stream.reset");
});
