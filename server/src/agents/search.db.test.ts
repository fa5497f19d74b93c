import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
const made = {
  plain: await beckon.createAgent({ name: "Invoice Reader", description: "Reads what arrives." }),
  percent: await beckon.createAgent({ name: "100% sure", description: "a_b" }),
  path: await beckon.createAgent({ name: String.raw`C:\temp`, description: "ÄRGER im Büro" }),
  other: await beckon.createAgent({
    name: "Greeter",
    description: "Says hello to INVOICES",
    model: `${provider.name}/big`,
  }),
};
await beckon.call(`/agents/${made.other.id}/pause`, { body: { reason: "Holiday" } });
type Name = keyof typeof made;
const nameOf = (id: string) => Object.entries(made).find(([, agent]) => agent.id === id)?.[0];

const find = (filters: Record<string, string>, credential = beckon.key) =>
  beckon.call(`/agents?${new URLSearchParams({ limit: "200", ...filters })}`, { credential });
const found = ({ body }: Answer) =>
  body.data
    .map(({ id }: { id: string }) => nameOf(id))
    .filter((name?: string) => name !== undefined);

test("a page has at most 3 MiB of agents, and the next one has the others", async () => {
  const credential = await insertStranger(beckon);
  // Each agent's instructions take 600 KB in UTF-8.
  const instructions = "€".repeat(200_000);
  const ids: string[] = [];
  while (ids.length < 8) {
    const body = { name: "Large", model: "demo/echo", instructions };
    ids.unshift((await beckon.call("/agents", { credential, body })).body.data.id);
  }
  const idsOf = ({ body }: Answer) => body.data.map(({ id }: { id: string }) => id);
  const first = await find({}, credential);
  expect(idsOf(first)).toEqual(ids.slice(0, 5));
  const second = await find({ after: first.body.next }, credential);
  expect([idsOf(second), second.body.next]).toEqual([ids.slice(5), null]);
  const summary = await find({ view: "summary" }, credential);
  expect([idsOf(summary), summary.body.next]).toEqual([ids, null]);
});

test("a summary has the names and models of agents, and not their large fields", async () => {
  const large = {
    instructions: "Read it.",
    tools: [{ type: "clock" }],
    metadata: { team: "orders" },
  };
  const agent = await beckon.createAgent({ name: "Summarized", ...large });
  const listed = async (filters: Record<string, string>) =>
    (await find({ search: "Summarized", ...filters })).body.data[0];
  const whole = await listed({});
  expect(whole).toMatchObject({
    id: agent.id,
    instructions: "Read it.",
    tools: [{ type: "clock" }],
  });
  expect(await listed({ view: "summary" })).toEqual({
    ...whole,
    instructions: "",
    tools: [],
    metadata: {},
  });
  await expectError(await find({ view: "short" }), 400, "bad_request");
});

describe("a search", () => {
  test.each<[string, Name[]]>([
    ["invoice", ["other", "plain"]],
    ["INVOICE", ["other", "plain"]],
    ["reads what", ["plain"]],
    ["ärger", ["path"]],
    ["BÜRO", ["path"]],
    ["nobody", []],
    // Wildcards of LIKE are escaped.
    ["%", ["percent"]],
    ["0%", ["percent"]],
    ["_", ["percent"]],
    ["a_b", ["percent"]],
    ["\\", ["path"]],
    ["\\t", ["path"]],
    ["%%", []],
    ["I_voice", []],
    ["' or true --", []],
  ])("for %s matches name and description, ignoring case", async (search, expected) => {
    const response = await find({ search });
    expect([response.status, found(response)]).toEqual([200, expected]);
  });

  test("matches the description of the current version only", async () => {
    const { id } = await beckon.createAgent({ description: "before the change" });
    await beckon.call(`/agents/${id}`, { method: "PATCH", body: { description: "after it" } });
    expect((await find({ search: "before the change" })).body.data).toEqual([]);
    expect((await find({ search: "after it" })).body.data).toMatchObject([{ id }]);
  });
});

test.each<[Record<string, string>, Name[]]>([
  [{ paused: "true" }, ["other"]],
  [{ paused: "false" }, ["path", "percent", "plain"]],
  [{ model: `${provider.name}/big` }, ["other"]],
  [{ model: "demo/echo" }, ["path", "percent", "plain"]],
  [{ model: "demo" }, []],
  [{ search: "invoice", paused: "false" }, ["plain"]],
  [{ search: "invoice", paused: "true", model: "demo/echo" }, []],
  [{ deleted: "false", paused: "true" }, ["other"]],
])("%j finds agents that match all filters", async (filters, expected) => {
  expect(found(await find(filters))).toEqual(expected);
});

test("a cursor is rejected with another filter", async () => {
  const first = await find({ model: "demo/echo", limit: "1" });
  const next = first.body.next as string;
  expect((await find({ model: "demo/echo", limit: "1", after: next })).status).toBe(200);
  for (const other of [
    {},
    { model: "demo/other" },
    { model: "demo/echo", search: "x" },
    { deleted: "true", model: "demo/echo" },
  ]) {
    expectError(
      await find({ ...other, after: next }),
      400,
      "bad_request",
      /query parameter after is not a cursor of this list/,
    );
  }
});

test.each<[Record<string, string>, RegExp]>([
  [{ sort: "name" }, /^unknown query parameter sort \(known: limit, after, search/],
  [{ searc: "x" }, /^unknown query parameter searc /],
  [{ paused: "yes" }, /^query parameter paused must be "true" or "false"/],
  [{ deleted: "1" }, /deleted must be/],
  [{ search: "" }, /search/],
  [{ search: "x".repeat(201) }, /search must be at most 200 characters/],
  [{ search: "\0" }, /search/],
  [{ model: "" }, /model/],
])("%j is rejected with the reason", async (filters, why) => {
  expectError(await find(filters), 400, "bad_request", why);
});

test("a search finds agents of the own workspace only, and with a limited key only its agents", async () => {
  expect((await find({ search: "invoice" }, await insertStranger(beckon))).body.data).toEqual([]);
  const limited = await insertKey(beckon, { scopes: ["agents:read"], agentIds: [made.plain.id] });
  expect(found(await find({ search: "invoice" }, limited))).toEqual(["plain"]);
});

describe("a deleted agent", () => {
  const deleted = async () => {
    const agent = await beckon.createAgent({ name: "Gone" });
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    return agent;
  };
  const age = (id: string, time: string) =>
    beckon.db.database.engine.query(
      "update agents set deleted_at = now() - $2::interval where id = $1",
      [id, time],
    );
  const listed = async (id: string, credential = beckon.key) =>
    (await find({ deleted: "true" }, credential)).body.data.find(
      (agent: { id: string }) => agent.id === id,
    );
  const restore = (id: string) => beckon.call(`/agents/${id}/restore`, { method: "POST" });

  test("is listed only with deleted=true, with the time until which it can be restored", async () => {
    const { id } = await deleted();
    const agent = await listed(id);
    expect(Date.parse(agent.restorable_until) - Date.parse(agent.deleted_at)).toBe(
      30 * 24 * 3_600_000,
    );
    expect(
      (await find({ deleted: "true" })).body.data.every((one: object) => "deleted_at" in one),
    ).toBe(true);
    expect((await find({ search: "Gone" })).body.data).toEqual([]);
  });

  test("can be restored within 30 days and is then not listed as deleted", async () => {
    const { id } = await deleted();
    await age(id, "29 days 23 hours 59 minutes");
    expect(await listed(id)).toMatchObject({ id });
    const { status, body } = await restore(id);
    expect([status, "deleted_at" in body.data, "restorable_until" in body.data]).toEqual([
      200,
      false,
      false,
    ]);
    expect(await listed(id)).toBeUndefined();
  });

  test("cannot be restored after 30 days, and the error says so", async () => {
    const { id } = await deleted();
    await age(id, "30 days 1 second");
    expect(await listed(id)).toBeUndefined();
    expectError(await restore(id), 404, "not_found", /more than 30 days ago/);
  });

  test("of another workspace is neither listed nor restored", async () => {
    const { id } = await deleted();
    const stranger = await insertStranger(beckon);
    expect(await listed(id, stranger)).toBeUndefined();
    expectError(
      await beckon.call(`/agents/${id}/restore`, { method: "POST", credential: stranger }),
      404,
      "not_found",
    );
  });

  test("is listed for a key limited to it and for no other limited key", async () => {
    const { id } = await deleted();
    const [own, other] = [
      await insertKey(beckon, { agentIds: [id] }),
      await insertKey(beckon, { agentIds: [made.plain.id] }),
    ];
    expect([(await listed(id, own))?.id, await listed(id, other)]).toEqual([id, undefined]);
  });
});
