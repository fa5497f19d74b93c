import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelPrice } from "@beckon/contract";
import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, type Person } from "../../test/people.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-prices-"));
afterAll(() => rmSync(folder, { recursive: true }));
const pricesFile = join(folder, "prices.json");
writeFileSync(
  pricesFile,
  JSON.stringify({ models: { "openai/house-*": { input: 1, output: 2, cached_input: 0.5 } } }),
);

const beckon = await startTestBeckon({
  BECKON_PRICES: pricesFile,
  OPENAI_API_KEY: "operator-key-0123456789",
});
const own = await beckon.createProvider("http://127.0.0.1:9/v1", "own");
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const rates = {
  input_micros_per_million: 1_000_000,
  output_micros_per_million: 4_000_000,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
};
const shown = (origin: string, price: object) => ({
  origin,
  ...rates,
  ...price,
  call_micros: 0,
  tiers: [],
});
const gpt4o = shown("library", {
  input_micros_per_million: 2_500_000,
  output_micros_per_million: 10_000_000,
  cached_input_micros_per_million: 1_250_000,
});
const house = shown("operator", {
  output_micros_per_million: 2_000_000,
  cached_input_micros_per_million: 500_000,
});
const free = shown("free", { input_micros_per_million: 0, output_micros_per_million: 0 });

const create = (model: string, body: object = {}) =>
  beckon.call("/prices", {
    body: {
      model,
      input_micros_per_million: 1_000_000,
      output_micros_per_million: 4_000_000,
      ...body,
    },
  });
const change = (id: string, body: unknown) =>
  beckon.call(`/prices/${id}`, { method: "PATCH", body });
const remove = (id: string) => beckon.call(`/prices/${id}`, { method: "DELETE" });
const find = async (model: string, credential = beckon.key): Promise<ModelPrice[]> =>
  (await beckon.call(`/prices?model=${encodeURIComponent(model)}`, { credential })).body.data;

describe("setting a price", () => {
  test("answers with the price, which can be read", async () => {
    const { status, body, headers } = await create("own/created", {
      cached_input_micros_per_million: 250_000,
    });
    const price = shown("workspace", { cached_input_micros_per_million: 250_000 });
    expect([status, body]).toEqual([
      201,
      {
        ok: true,
        data: {
          id: expect.stringMatching(/^pri_[0-9a-z]{26}$/),
          model: "own/created",
          provider_id: own.id,
          current: price,
          standard: null,
          created_at: time,
          updated_at: time,
        },
      },
    ]);
    const read = await beckon.call(new URL(headers.get("location") ?? "", beckon.url).href);
    expect(read.body).toEqual(body);
    expect(await find("own/created")).toEqual([body.data]);
  });

  test("of a model with slashes in its name is possible", async () => {
    const { body } = await create("own/meta/llama-3:free");
    expect(await find("own/meta/llama-3:free")).toEqual([body.data]);
  });

  test("keeps the standard price visible", async () => {
    const provider = { name: "vendor", kind: "openai", api_key: "sk-0123456789abcdef" };
    await beckon.call("/providers", { body: provider });
    const { body } = await create("vendor/gpt-4o");
    expect(body.data).toMatchObject({ current: shown("workspace", {}), standard: gpt4o });
  });

  test("twice is a conflict that names the way to change it", async () => {
    const { id } = (await create("own/twice")).body.data;
    expectError(
      await create("own/twice"),
      409,
      "conflict",
      new RegExp(`own/twice has a price already\\. Change it with PATCH /api/public/prices/${id}`),
    );
  });

  test("at the same moment leaves one", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create("own/race")));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test("of a model of the operator's provider is a conflict", async () => {
    expectError(
      await create("openai/gpt-4o"),
      409,
      "conflict",
      /openai is the operator's, so only the operator of Beckon sets its prices.*BECKON_PRICES/,
    );
  });

  test("of demo/echo is a conflict", async () => {
    expectError(await create("demo/echo"), 409, "conflict", /demo\/echo always costs 0/);
  });

  test("of an unknown provider is rejected", async () => {
    expectError(
      await create("nobody/x"),
      400,
      "bad_request",
      /this workspace has no provider nobody/,
    );
  });

  test.each([
    ["model", "own"],
    ["model", 5],
    ["input_micros_per_million", -1],
    ["input_micros_per_million", 0.5],
    ["input_micros_per_million", null],
    ["input_micros_per_million", undefined],
    ["output_micros_per_million", 2_000_000_001],
    ["output_micros_per_million", "1"],
    ["cached_input_micros_per_million", -1],
    ["cache_write_micros_per_million", 1e300],
    ["origin", "library"],
    ["call_micros", 1],
  ])("with the %s %j is rejected", async (field, value) => {
    const answer = await create("own/rejected", { [field]: value });
    expectError(answer, 400, "bad_request", new RegExp(field));
  });

  test("has limits that can be reached", async () => {
    const most = { input_micros_per_million: 0, output_micros_per_million: 2_000_000_000 };
    expect((await create("own/limits", most)).body.data.current).toMatchObject(most);
  });
});

describe("changing a price", () => {
  test("changes the fields that are sent", async () => {
    const { data } = (await create("own/changed", { cache_write_micros_per_million: 5 })).body;
    const { status, body } = await change(data.id, { output_micros_per_million: 1 });
    const price = { output_micros_per_million: 1, cache_write_micros_per_million: 5 };
    expect([status, body.data]).toEqual([
      200,
      { ...data, current: shown("workspace", price), updated_at: time },
    ]);
    const { body: reset } = await change(data.id, { cache_write_micros_per_million: null });
    expect(reset.data.current.cache_write_micros_per_million).toBeNull();
    expect((await beckon.call(`/prices/${data.id}`)).body).toEqual(reset);
  });

  test("cannot change its model", async () => {
    const { id } = (await create("own/fixed")).body.data;
    expectError(await change(id, { model: "own/other" }), 400, "bad_request", /model/);
  });
});

test("a deleted price is gone, and the standard price applies", async () => {
  const { id } = (await create("vendor/gpt-4o-mini")).body.data;
  expect((await remove(id)).status).toBe(204);
  for (const answer of [await beckon.call(`/prices/${id}`), await change(id, {}), await remove(id)])
    expectError(answer, 404, "not_found", /no price with this id/);
  const [found] = await find("vendor/gpt-4o-mini");
  expect(found).toMatchObject({ id: null, current: { origin: "library" }, created_at: null });
});

describe("the prices of one model", () => {
  test.each([
    ["demo/echo", free],
    ["openai/gpt-4o", gpt4o],
    ["openai-chat/gpt-4o", gpt4o],
    ["openai/house-1", house],
    ["openai/unknown", null],
  ])("of %s, which nobody can set here, are its standard price", async (model, price) => {
    expect(await find(model)).toEqual([
      {
        id: null,
        model,
        provider_id: null,
        current: price,
        standard: price,
        created_at: null,
        updated_at: null,
      },
    ]);
  });

  test("of an own provider at an unknown address are unknown", async () => {
    expect(await find("own/gpt-4o")).toEqual([
      {
        id: null,
        model: "own/gpt-4o",
        provider_id: own.id,
        current: null,
        standard: null,
        created_at: null,
        updated_at: null,
      },
    ]);
  });

  test("of an unknown provider are an empty list", async () => {
    expect(await find("nobody/gpt-4o")).toEqual([]);
  });

  test("of an operator's provider are an empty list in a workspace that cannot use it", async () => {
    const stranger = await insertStranger(beckon);
    expect(await find("openai/gpt-4o", stranger)).toEqual([]);
    expect(await find("demo/echo", stranger)).toMatchObject([{ current: free }]);
  });
});

describe("the list of prices", async () => {
  const { data: workspace } = (await beckon.call("/workspaces", { body: { name: "List" } })).body;
  const call = (path: string, body?: unknown, method?: string) =>
    beckon.call(path, { credential: workspace.key, body, ...(method ? { method } : {}) });
  const addProvider = async (name: string) =>
    (
      await call("/providers", {
        name,
        kind: "openai-compatible",
        base_url: "http://127.0.0.1:9/v1",
      })
    ).body.data.id as string;
  const addAgent = async (model: string) =>
    (await call("/agents", { name: "Test", model })).body.data.id as string;
  const long = `b/${"模".repeat(298)}`;
  const provider = await addProvider("b");
  await addProvider("a");
  await addAgent("b/two");
  await addAgent("b/two");
  await addAgent("demo/echo");
  await addAgent(long);
  await addAgent("a/zero");
  await call(`/agents/${await addAgent("b/deleted")}`, undefined, "DELETE");
  const replaced = await addAgent("b/replaced");
  await call(`/agents/${replaced}`, { model: "b/one" }, "PATCH");
  const { data: unused } = (await call("/prices", { ...rates, model: "b/unused" })).body;
  const expected = ["a/zero", "b/one", "b/two", "b/unused", long, "demo/echo"];

  test("has each model that an agent uses or that has a price, by name", async () => {
    const { body } = await call("/prices");
    expect(body.data.map(({ model }: ModelPrice) => model)).toEqual(expected);
    expect(body.next).toBeNull();
    expect(body.data[3]).toEqual(unused);
    expect(body.data[1]).toMatchObject({ id: null, provider_id: provider, current: null });
  });

  test("has the same models page by page", async () => {
    const models: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const query: string = after === "" ? "" : `&after=${after}`;
      const { status, body } = await call(`/prices?limit=1${query}`);
      expect(status).toBe(200);
      models.push(...body.data.map(({ model }: ModelPrice) => model));
      after = body.next;
    }
    expect(models).toEqual(expected);
  });

  test("rejects a cursor of another list", async () => {
    const { next } = (await call("/providers?limit=1")).body;
    expectError(await call(`/prices?after=${next}`), 400, "bad_request", /after/);
  });

  test("rejects a cursor that was changed to a model that no text column can contain", async () => {
    const { next } = (await call("/prices?limit=1")).body;
    const [mark] = Buffer.from(next, "base64url").toString().split(".");
    const id = `${Buffer.from("a/\0").toString("base64url")} `;
    const after = Buffer.from(`${mark}.${id}`).toString("base64url");
    expectError(await call(`/prices?limit=1&after=${after}`), 400, "bad_request", /after/);
  });
});

test("an own provider and the operator's of the same name are listed both, if agents use both", async () => {
  const credential = beckon.key;
  const before = await beckon.createAgent({ model: "openai/gpt-4o" });
  const { data: provider } = (
    await beckon.call("/providers", {
      credential,
      body: { name: "openai", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" },
    })
  ).body;
  const { data: price } = (await create("openai/gpt-4o")).body;
  expect((await find("openai/gpt-4o")).map((each) => [each.provider_id, each.current])).toEqual([
    [null, gpt4o],
    [provider.id, shown("workspace", {})],
  ]);
  await beckon.call(`/agents/${before.id}`, { method: "DELETE" });

  // Deleting a provider deletes its prices. Its name then means the operator's provider again.
  await beckon.call(`/providers/${provider.id}`, { method: "DELETE" });
  expectError(await beckon.call(`/prices/${price.id}`), 404, "not_found");
  expect(await find("openai/gpt-4o")).toMatchObject([{ id: null, provider_id: null }]);
});

test("a change of a price changes the provider's updated_at, so that runs get the new price", async () => {
  const read = async () => (await beckon.call(`/providers/${own.id}`)).body.data.updated_at;
  const times = [await read()];
  const { id } = (await create("own/stamped")).body.data;
  times.push(await read());
  await change(id, { input_micros_per_million: 2 });
  times.push(await read());
  await remove(id);
  times.push(await read());
  expect(new Set(times).size).toBe(4);
});

describe("a role", async () => {
  const { data: price } = (await create("own/roles")).body;
  const roles = ["owner", "admin", "editor", "viewer"] as const;
  const people = new Map<string, Person>();
  for (const role of roles) people.set(role, await addPerson(beckon, { role }));
  const as = (role: string): Person["call"] => {
    const person = people.get(role);
    if (person === undefined) throw new Error(`nobody is ${role}`);
    return person.call;
  };
  let number = 0;
  const newProvider = (more: object = {}) => ({
    name: `role-${number++}`,
    kind: "openai-compatible",
    base_url: "http://127.0.0.1:9/v1",
    ...more,
  });

  test.each(roles)("%s reads prices", async (role) => {
    expect((await as(role)(`/prices/${price.id}`)).body.data).toEqual(price);
    expect((await as(role)("/prices")).status).toBe(200);
  });

  test.each(["owner", "admin"])("%s sets, changes and deletes prices", async (role) => {
    const made = await as(role)("/prices", { body: { model: `own/${role}`, ...rates } });
    const path = `/prices/${made.body.data.id}`;
    const changed = await as(role)(path, { method: "PATCH", body: {} });
    const deleted = await as(role)(path, { method: "DELETE" });
    expect([made.status, changed.status, deleted.status]).toEqual([201, 200, 204]);
  });

  test.each(["editor", "viewer"])("%s cannot", async (role) => {
    const path = `/prices/${price.id}`;
    for (const answer of [
      await as(role)("/prices", { body: { model: `own/${role}`, ...rates } }),
      await as(role)(path, { method: "PATCH", body: {} }),
      await as(role)(path, { method: "DELETE" }),
    ])
      expectError(answer, 403, "forbidden", new RegExp(`${role}, does not include limits:write`));
  });

  test.each(["owner", "admin"])("%s marks a provider as free, and back", async (role) => {
    const { data } = (await as(role)("/providers", { body: newProvider({ free: true }) })).body;
    expect(data.free).toBe(true);
    expect(await find(`${data.name}/x`)).toMatchObject([{ current: free, standard: null }]);
    const body = { free: false };
    const changed = await as(role)(`/providers/${data.id}`, { method: "PATCH", body });
    expect([changed.status, changed.body.data.free]).toEqual([200, false]);
    expect(await find(`${data.name}/x`)).toMatchObject([{ current: null }]);
  });

  test("editor adds a provider that is not free, but no free one", async () => {
    const made = await as("editor")("/providers", { body: newProvider({ free: false }) });
    expect([made.status, made.body.data.free]).toEqual([201, false]);
    const path = `/providers/${made.body.data.id}`;
    for (const answer of [
      await as("editor")("/providers", { body: newProvider({ free: true }) }),
      await as("editor")(path, { method: "PATCH", body: { free: true } }),
      await as("editor")(path, { method: "PATCH", body: { free: false } }),
    ])
      expectError(answer, 403, "forbidden", /limits:write/);
  });

  test("editor cannot move a free provider, or one with prices, to another address", async () => {
    const { data: freed } = (await beckon.call("/providers", { body: newProvider({ free: true }) }))
      .body;
    const { data: priced } = (await beckon.call("/providers", { body: newProvider() })).body;
    await create(`${priced.name}/x`);
    const base_url = "http://127.0.0.1:9/v2";
    for (const [provider, why] of [
      [freed, /^base_url: .* is free, .* limits:write/],
      [priced, /^base_url: .* has prices, .* limits:write/],
    ] as const) {
      const path = `/providers/${provider.id}`;
      const patch = (role: string, body: object) => as(role)(path, { method: "PATCH", body });
      expectError(await patch("editor", { base_url }), 403, "forbidden", why);
      const same = { base_url: provider.base_url, api_key: "sk-0123456789abcdef" };
      expect((await patch("editor", same)).status).toBe(200);
      expect((await patch("admin", { base_url })).body.data.base_url).toBe(base_url);
    }
    const { data: plain } = (await beckon.call("/providers", { body: newProvider() })).body;
    const moved = await as("editor")(`/providers/${plain.id}`, {
      method: "PATCH",
      body: { base_url },
    });
    expect(moved.status).toBe(200);
  });
});

test("a key that is limited to some agents cannot have the scope of prices", async () => {
  const agent = await beckon.createAgent();
  const answer = await beckon.call("/keys", {
    body: { name: "Test", scopes: ["limits:write"], agent_ids: [agent.id] },
  });
  expectError(answer, 400, "bad_request", /limits:write/);
  const credential = await insertKey(beckon, { scopes: ["limits:write"], agentIds: [agent.id] });
  const body = { model: "own/limited", ...rates };
  expectError(await beckon.call("/prices", { credential, body }), 403, "forbidden", /limited/);
});

test("Beckon does not start with an invalid file of prices, and says where it is wrong", async () => {
  const path = join(folder, "invalid.json");
  writeFileSync(path, '{"models": {\n  "openai/gpt-5": {"input": "1", "output": 1}\n}}');
  await expect(beckon.another({ settings: { BECKON_PRICES: path } })).rejects.toMatchObject({
    name: "ConfigError",
    message: expect.stringMatching(
      /^BECKON_PRICES names .*invalid\.json.*\nline 2, column 20: input/,
    ),
  });
});
