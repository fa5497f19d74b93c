import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

/** Tests of what a key that is limited to some agents can subscribe to. */

const beckon = await startTestBeckon();
const [mine, theirs] = [await beckon.createAgent(), await beckon.createAgent()];
const triggers = {
  mine: await beckon.createTrigger(mine.id),
  theirs: await beckon.createTrigger(theirs.id),
};
const { key } = (
  await beckon.call("/keys", { body: { name: "Test", preset: "everything", agent_ids: [mine.id] } })
).body.data;
const valid = {
  url: "http://127.0.0.1:9/events",
  event_types: ["run.finished", "agent.paused", "agent.resumed"],
  agent_ids: [mine.id],
};
const create = (body: object, credential = key) =>
  beckon.call("/subscriptions", { body: { ...valid, ...body }, credential });
const { data: own } = (await create({})).body;
const change = (body: object, id = own.id) =>
  beckon.call(`/subscriptions/${id}`, { method: "PATCH", body, credential: key });

const rejected = [
  [{ agent_ids: null }, 403, "forbidden", /^agent_ids: this key is limited/],
  [{ agent_ids: [theirs.id] }, 400, "bad_request", new RegExp(`"${theirs.id}"`)],
  [{ agent_ids: [mine.id, theirs.id] }, 400, "bad_request", new RegExp(`"${theirs.id}"`)],
  [{ event_types: ["usage.threshold"] }, 403, "forbidden", /usage\.threshold/],
  [{ event_types: ["subscription.disabled"] }, 403, "forbidden", /subscription\.disabled/],
  [{ trigger_ids: [triggers.theirs.id] }, 400, "bad_request", new RegExp(triggers.theirs.id)],
] as const;

test("a limited key subscribes to its agents and their triggers", async () => {
  const ofTrigger = { event_types: ["run.finished"], trigger_ids: [triggers.mine.id] };
  const answer = await create(ofTrigger);
  expect([answer.status, answer.body.data.agent_ids]).toEqual([201, [mine.id]]);
});

test.each(rejected)("cannot create %j", async (body, status, code, message) => {
  expectError(await create(body), status, code, message);
});

test("must name its agents", async () => {
  const { agent_ids: _, ...body } = valid;
  const answer = await beckon.call("/subscriptions", { body, credential: key });
  expectError(answer, 403, "forbidden", /Set agent_ids to some of these agents/);
});

test.each(rejected)("cannot change a subscription to %j", async (body, status, code, message) => {
  expectError(await change(body), status, code, message);
  expect((await beckon.call(`/subscriptions/${own.id}`)).body.data).toMatchObject(valid);
});

test("an unlimited subscription that was narrowed to its agents appears", async () => {
  const { data: wide } = (await create({ agent_ids: null }, beckon.key)).body;
  expectError(await change({ description: "Mine" }, wide.id), 404, "not_found");
  await beckon.call(`/subscriptions/${wide.id}`, {
    method: "PATCH",
    body: { agent_ids: [mine.id] },
  });
  expect((await change({ description: "Mine" }, wide.id)).status).toBe(200);
});

test("deliveries about other agents stay hidden when their subscription is narrowed", async () => {
  const { data: wide } = (await create({ agent_ids: null }, beckon.key)).body;
  const path = `/subscriptions/${wide.id}`;
  for (const agent of [mine, theirs]) await beckon.invoke(agent, "Hello");
  await beckon.call(path, { method: "PATCH", body: { agent_ids: [mine.id] } });
  const list = async (credential: string): Promise<{ id: string; agent_id: string }[]> =>
    (await beckon.call(`${path}/deliveries`, { credential })).body.data;
  const all = await list(beckon.key);
  expect(new Set(all.map(({ agent_id }) => agent_id))).toEqual(new Set([mine.id, theirs.id]));
  expect((await list(key)).map(({ agent_id }) => agent_id)).toEqual([mine.id]);
  const hidden = `${path}/deliveries/${all.find(({ agent_id }) => agent_id === theirs.id)?.id}`;
  expectError(await beckon.call(hidden, { credential: key }), 404, "not_found");
  const replay = { body: {}, credential: key };
  expectError(await beckon.call(`${hidden}/replay`, replay), 404, "not_found");
});

describe("a limited key that changes a narrowed subscription", () => {
  const url = "http://127.0.0.1:9/elsewhere";
  /** Returns, by agent, the status of the pending deliveries of a narrowed one after the change. */
  async function statusesAfter(body: object) {
    const { data: wide } = (await create({ agent_ids: null, payload: "thin" }, beckon.key)).body;
    const path = `/subscriptions/${wide.id}`;
    for (const agent of [mine, theirs]) await beckon.invoke(agent, "Hello");
    await beckon.call(path, { method: "PATCH", body: { agent_ids: [mine.id] } });
    expect((await change(body, wide.id)).status).toBe(200);
    const { data }: { data: { agent_id: string; status: string }[] } = (
      await beckon.call(`${path}/deliveries`)
    ).body;
    return Object.fromEntries(data.map(({ agent_id, status }) => [agent_id, status]));
  }

  test.each([{ url }, { headers: { "x-tenant": "mine" } }, { payload: "full" }])(
    "ends what is pending about other agents with %j",
    async (body) => {
      expect(await statusesAfter(body)).toEqual({ [mine.id]: "pending", [theirs.id]: "not_sent" });
    },
  );

  test.each([{ url: valid.url, payload: "thin" }, { description: "Mine" }])(
    "keeps it with %j, which changes nothing about where and how it is sent",
    async (body) => {
      expect(await statusesAfter(body)).toEqual({ [mine.id]: "pending", [theirs.id]: "pending" });
    },
  );
});

test("a limited key that changes a narrowed subscription ends no callbacks, which it does not redirect", async () => {
  const origin = "https://receiver.invalid";
  const { data: wide } = (await create({ agent_ids: null, url: `${origin}/events` }, beckon.key))
    .body;
  const path = `/subscriptions/${wide.id}`;
  await beckon.invoke(theirs, "Hello", { "beckon-callback": `${origin}/callback` });
  await beckon.call(path, { method: "PATCH", body: { agent_ids: [mine.id] } });
  expect((await change({ url: `${origin}/elsewhere` }, wide.id)).status).toBe(200);
  const { data } = (await beckon.call(`${path}/deliveries`)).body;
  const statuses = data.map(({ kind, status }: Record<string, string>) => [kind, status]);
  expect(statuses.sort()).toEqual([
    ["callback", "pending"],
    ["event", "not_sent"],
  ]);
});

test("the owner of a narrowed subscription moves it with all that is pending", async () => {
  const { data: wide } = (await create({ agent_ids: null }, beckon.key)).body;
  const path = `/subscriptions/${wide.id}`;
  await beckon.invoke(theirs, "Hello");
  const body = { agent_ids: [mine.id], url: "http://127.0.0.1:9/elsewhere" };
  await beckon.call(path, { method: "PATCH", body });
  expect((await beckon.call(`${path}/deliveries`)).body.data).toMatchObject([
    { agent_id: theirs.id, status: "pending" },
  ]);
});

test("cannot take over a subscription to events of the whole workspace", async () => {
  const { data } = (await create({ event_types: ["usage.threshold"] }, beckon.key)).body;
  const url = "http://127.0.0.1:9/elsewhere";
  expectError(await change({ url }, data.id), 403, "forbidden", /usage\.threshold/);
});

test("deliveries about a run are shown only of subscriptions that the key sees", async () => {
  await create({ agent_ids: null }, beckon.key);
  const { body: run } = await beckon.invoke(mine, "Hello");
  const list = async (credential?: string) =>
    (
      await beckon.call(
        `/runs/${run.run_id}/deliveries?limit=200`,
        credential === undefined ? {} : { credential },
      )
    ).body.data as { subscription_id: string }[];
  const [all, some] = [await list(), await list(key)];
  expect(all.length).toBeGreaterThan(some.length);
  expect(some.map(({ subscription_id }) => subscription_id)).toContain(own.id);
  const { data: seen } = (await beckon.call("/subscriptions?limit=200", { credential: key })).body;
  const ids = seen.map(({ id }: { id: string }) => id);
  for (const { subscription_id } of some) expect(ids).toContain(subscription_id);
});
