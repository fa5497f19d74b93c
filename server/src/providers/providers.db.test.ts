import { afterAll, describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startModelServer } from "../../test/model-server.ts";

const beckon = await startTestBeckon({
  BECKON_EGRESS_ALLOW: "127.0.0.1:10,127.0.0.1:11,127.0.0.1:12,localhost:9",
});
const models = await startModelServer();
afterAll(() => models.close());

const nowhere = "http://127.0.0.1:9/v1";
let count = 0;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const create = (body: Record<string, unknown>) =>
  beckon.call("/providers", { body: { kind: "openai-compatible", base_url: nowhere, ...body } });
const change = (id: string, body: unknown) =>
  beckon.call(`/providers/${id}`, { method: "PATCH", body });
const remove = (id: string) => beckon.call(`/providers/${id}`, { method: "DELETE" });
const idsOf = ({ body }: Answer): string[] =>
  body.data.map((provider: { id: string }) => provider.id);

describe("creating a provider", () => {
  test("answers with all of it but its key, of which the last four characters are shown", async () => {
    const { status, body, headers } = await create({
      name: "created",
      api_key: "sk-0123456789abcdef",
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      ok: true,
      data: {
        id: expect.stringMatching(/^prv_[0-9a-z]{26}$/),
        name: "created",
        kind: "openai-compatible",
        origin: "workspace",
        base_url: nowhere,
        api_key_last4: "cdef",
        free: false,
        created_at: time,
        updated_at: time,
      },
    });
    expect(
      (await beckon.call(new URL(headers.get("location") ?? "", beckon.url).href)).body,
    ).toEqual(body);
  });

  test("without a key shows none", async () => {
    expect((await create({ name: "keyless" })).body.data.api_key_last4).toBeNull();
  });

  test("with a short key shows nothing of it", async () => {
    expect((await create({ name: "short-key", api_key: "12345678" })).body.data.api_key_last4).toBe(
      "",
    );
  });

  test.each([
    ["http://127.0.0.1:11434/v1", "127.0.0.1:11434"],
    ["http://127.1:11434/v1", "127.0.0.1:11434"],
    ["http://localhost:11434/v1", "localhost:11434"],
    ["http://[::1]:11434/v1", "[::1]:11434"],
    ["http://10.0.0.5/v1", "10.0.0.5:80"],
    ["https://169.254.169.254/v1", "169.254.169.254:443"],
  ])("at the private address %s says how the operator allows it", async (base_url, host) => {
    const { id } = (await create({ name: `private-${count++}` })).body.data;
    for (const answer of [
      await create({ name: "private", base_url }),
      await change(id, { base_url }),
    ]) {
      expectError(answer, 400, "bad_request", /^base_url: .* is not a public address/);
      expect(answer.body.error).toContain(`add ${host} to BECKON_EGRESS_ALLOW `);
    }
    expect((await beckon.call(`/providers/${id}`)).body.data.base_url).toBe(nowhere);
  });

  test("under a name that is in use is a conflict", async () => {
    await create({ name: "taken" });
    expectError(await create({ name: "taken" }), 409, "conflict", /taken is in use/);
  });

  test("at the same moment under one name leaves one", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ name: "race" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test("under the reserved name demo is a conflict", async () => {
    expectError(await create({ name: "demo" }), 409, "conflict", /reserved/);
  });

  test.each(["openai", "anthropic", "google"])(
    "under %s, which may be the operator's too, is possible",
    async (name) => {
      expect((await create({ name })).status).toBe(201);
    },
  );

  test("under the name of a deleted one is possible", async () => {
    const { body } = await create({ name: "again" });
    await remove(body.data.id);
    expect((await create({ name: "again" })).status).toBe(201);
  });

  test.each([
    ["name", "With Capitals"],
    ["name", "a/b"],
    ["name", "x".repeat(64)],
    ["name", ""],
    ["kind", "unknown"],
    ["base_url", "ftp://example.com"],
    ["base_url", "http://user:password@example.com/v1"],
    ["base_url", "http://example.com/v1?key=x"],
    ["base_url", "nonsense"],
    ["api_key", ""],
    ["api_key", "with space"],
    ["api_key", "line\nbreak"],
  ])("with the %s %j is refused", async (member, value) => {
    expectError(
      await create({ name: "refused", [member]: value }),
      400,
      "bad_request",
      new RegExp(member),
    );
  });
});

describe("the list of providers", () => {
  test("is newest first, page by page, without deleted ones", async () => {
    const made: string[] = [];
    for (const name of ["list-1", "list-2", "list-3"])
      made.unshift((await create({ name })).body.data.id);
    await remove((await create({ name: "list-4" })).body.data.id);
    const first = await beckon.call("/providers?limit=2");
    const second = await beckon.call(`/providers?limit=1&after=${first.body.next}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
  });
});

describe("changing a provider", () => {
  test("changes its address on the same origin and leaves its key", async () => {
    const { id } = (await create({ name: "moved", api_key: "sk-0123456789abcdef" })).body.data;
    const { status, body } = await change(id, { base_url: "HTTP://127.0.0.1:9/other/v1" });
    const changed = {
      id,
      name: "moved",
      base_url: "HTTP://127.0.0.1:9/other/v1",
      api_key_last4: "cdef",
    };
    expect([status, body.data]).toMatchObject([200, changed]);
    expect((await beckon.call(`/providers/${id}`)).body).toEqual(body);
  });

  test.each([
    ["openai-compatible", nowhere, "https://127.0.0.1:9/v1"],
    ["openai-compatible", nowhere, "http://127.0.0.1:10/v1"],
    ["openai-compatible", nowhere, "http://localhost:9/v1"],
    ["openai", nowhere, null],
    ["openai", undefined, nowhere],
    ["anthropic", "https://api.anthropic.com:444", null],
  ])("of the kind %s from %s to %s needs the key again", async (kind, from, to) => {
    const name = `elsewhere-${count++}`;
    const { id } = (await create({ name, kind, base_url: from, api_key: "sk-0123456789abcdef" }))
      .body.data;
    expectError(
      await change(id, { base_url: to }),
      400,
      "bad_request",
      /^api_key: .* was not given for .*api_key/,
    );
    expect((await beckon.call(`/providers/${id}`)).body.data.base_url).toBe(from ?? null);

    expect(
      (await change(id, { base_url: to, api_key: "sk-fedcba9876543210" })).body.data.api_key_last4,
    ).toBe("3210");
    expectError(
      await change(id, { base_url: "http://127.0.0.1:11/v1" }),
      400,
      "bad_request",
      /^api_key: /,
    );
    const removed = await change(id, { base_url: "http://127.0.0.1:11/v1", api_key: null });
    expect([removed.status, removed.body.data.api_key_last4]).toEqual([200, null]);
    expect((await change(id, { base_url: "http://127.0.0.1:12/v1" })).status).toBe(200);
  });

  test.each([
    ["openai", "https://api.openai.com/v1/", null],
    ["openai", null, "https://API.openai.com:443/v2"],
    ["anthropic", null, "https://api.anthropic.com"],
  ])("of the kind %s from %s to %s keeps the key", async (kind, from, to) => {
    const name = `same-origin-${count++}`;
    const { id } = (
      await create({ name, kind, base_url: from ?? undefined, api_key: "sk-0123456789abcdef" })
    ).body.data;
    expect((await change(id, { base_url: to })).body.data).toMatchObject({
      base_url: to,
      api_key_last4: "cdef",
    });
  });

  test("to another origin beside a change of its key sends neither key where it was not given for", async () => {
    const { id } = (
      await create({ name: "raced", base_url: models.url, api_key: "sk-of-the-owner-0123" })
    ).body.data;
    const [moved] = await Promise.all([
      change(id, { base_url: "http://127.0.0.1:9/v1" }),
      change(id, { api_key: "sk-of-the-owner-4567" }),
    ]);
    expectError(moved, 400, "bad_request", /^api_key: /);
    expect((await beckon.call(`/providers/${id}`)).body.data).toMatchObject({
      base_url: models.url,
      api_key_last4: "4567",
    });
  });

  test("takes its key away by null", async () => {
    const { id } = (await create({ name: "unkeyed", api_key: "sk-0123456789abcdef" })).body.data;
    expect((await change(id, { api_key: null })).body.data.api_key_last4).toBeNull();
  });

  test.each([{ name: "renamed" }, { kind: "openai" }])("cannot change %j", async (body) => {
    const { id } = (await create({ name: `immutable-${Object.keys(body)[0]}` })).body.data;
    expectError(await change(id, body), 400, "bad_request", /unknown field/);
  });

  test("holds for the next run", async () => {
    const { id } = (await create({ name: "next-run", base_url: models.url, api_key: "first-key" }))
      .body.data;
    const agent = await beckon.createAgent({ model: "next-run/m1" });
    await beckon.invoke(agent, "Hello");
    await change(id, { api_key: "second-key" });
    await beckon.invoke(agent, "Hello");
    const keys = models.requests
      .filter(({ body }) => body.model === "m1")
      .map(({ headers }) => headers.authorization);
    expect(keys).toEqual(["Bearer first-key", "Bearer second-key"]);
  });
});

describe("deleting a provider", () => {
  test("answers 204, and it is gone", async () => {
    const { id } = (await create({ name: "deleted" })).body.data;
    const { status, body } = await remove(id);
    expect([status, body]).toEqual([204, undefined]);
    expectError(await beckon.call(`/providers/${id}`), 404, "not_found");
    expectError(await remove(id), 404, "not_found");
  });

  test("that an agent uses is a conflict, and names the agent", async () => {
    const { id } = (await create({ name: "used" })).body.data;
    await beckon.createAgent({ name: "Its user", model: "used/m" });
    expectError(await remove(id), 409, "conflict", /Its user/);
    expect((await beckon.call(`/providers/${id}`)).status).toBe(200);
  });

  test("that only an older version of an agent uses is possible", async () => {
    const { id } = (await create({ name: "used-before" })).body.data;
    const agent = await beckon.createAgent({ model: "used-before/m" });
    await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { model: "demo/echo" } });
    expect((await remove(id)).status).toBe(204);
  });

  test("that only a deleted agent uses is possible", async () => {
    const { id } = (await create({ name: "used-by-none" })).body.data;
    const agent = await beckon.createAgent({ model: "used-by-none/m" });
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    expect((await remove(id)).status).toBe(204);
  });

  test("makes a restored agent's runs fail, and says why", async () => {
    const { id } = (await create({ name: "lost" })).body.data;
    const agent = await beckon.createAgent({ model: "lost/m" });
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    await remove(id);
    await beckon.call(`/agents/${agent.id}/restore`, { method: "POST" });
    const { status, body } = await beckon.invoke({ id: agent.id, token: beckon.key }, "Hello");
    expect([status, body.code, body.error]).toEqual([
      500,
      "model_error",
      expect.stringMatching(/lost\/m.*deleted/),
    ]);
  });
});
