import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const target = await startTargetServer();
afterAll(() => target.close());

const change = (id: string, body: unknown) =>
  beckon.call(`/agents/${id}`, { method: "PATCH", body });
const restore = (id: string, version: number | string, headers: Record<string, string> = {}) =>
  beckon.call(`/agents/${id}/versions/${version}/restore`, { method: "POST", headers });
const compare = async (id: string, version: number, query = "") =>
  (await beckon.call(`/agents/${id}/versions/${version}/compare${query}`)).body;

const secret = "sk-the-secret-of-the-shop-1234";
const tool = (authorization: unknown, url = target.url) => ({
  type: "http",
  name: "shop",
  allowed_hosts: [new URL(url).host],
  headers: { Authorization: authorization },
  operations: [{ name: "read", description: "Reads", method: "GET", url: `${url}/orders` }],
});

/** An agent with versions 1 to 3, the second created with another key. */
const agent = await beckon.createAgent({
  name: "One",
  limits: { max_steps: 3 },
  metadata: { a: 1, b: [1, 2], "c/d~e": true },
});
const writer = await insertKey(beckon, { scopes: ["agents:write"] });
await beckon.call(`/agents/${agent.id}`, {
  method: "PATCH",
  body: { name: "Two", limits: { max_steps: 4 } },
  credential: writer,
});
await change(agent.id, {
  metadata: { a: 1, b: [1, 3, 4] },
  instructions: "Be brief.",
  model_settings: { temperature: 1 },
});
const versionPath = `/agents/${agent.id}/versions`;

describe("the versions of an agent", () => {
  test("are listed newest first with author and time, and paginated", async () => {
    const { body } = await beckon.call(versionPath);
    const time = expect.stringMatching(/Z$/);
    const entry = (version: number) => ({
      version,
      created_at: time,
      created_by: expect.stringMatching(/^key:key_/),
    });
    expect(body).toEqual({ ok: true, data: [3, 2, 1].map(entry), next: null });
    expect(
      new Set(body.data.map(({ created_by }: { created_by: string }) => created_by)).size,
    ).toBe(2);
    const first = await beckon.call(`${versionPath}?limit=2`);
    const second = await beckon.call(`${versionPath}?limit=2&after=${first.body.next}`);
    expect([...first.body.data, ...second.body.data]).toEqual(body.data);
    expect(second.body.next).toBeNull();
  });

  test("can be read, also after a newer version was added", async () => {
    const { body } = await beckon.call(`${versionPath}/1`);
    expect(body.data).toMatchObject({
      agent_id: agent.id,
      version: 1,
      name: "One",
      limits: { max_steps: 3 },
      metadata: { a: 1, b: [1, 2] },
    });
  });

  test("reject a cursor of another list", async () => {
    const other = await beckon.createAgent();
    for (const name of ["Two", "Three"]) await change(other.id, { name });
    const foreign = (await beckon.call(`/agents/${other.id}/versions?limit=1`)).body.next;
    const ofAgents = (await beckon.call("/agents?limit=1")).body.next;
    for (const after of [foreign, ofAgents, "x"])
      expectError(await beckon.call(`${versionPath}?after=${after}`), 400, "bad_request", /after/);
  });

  test("reject a cursor with a number that no version can have", async () => {
    const { next } = (await beckon.call(`${versionPath}?limit=1`)).body;
    const changed = Buffer.from(next, "base64url").toString().replace(/\d+$/, "9999999999");
    const after = Buffer.from(changed).toString("base64url");
    expectError(await beckon.call(`${versionPath}?after=${after}`), 400, "bad_request", /after/);
  });

  test.each([
    "0",
    "4",
    "-1",
    "1.0",
    "01",
    "one",
    "99999999999999999999",
    "2147483648",
    "%00",
    "1e0",
  ])("return 404 for %s on every path", async (version) => {
    for (const path of ["", "/compare", "/restore"]) {
      const method = path === "/restore" ? "POST" : "GET";
      expectError(
        await beckon.call(`${versionPath}/${version}${path}`, { method }),
        404,
        "not_found",
        /Its versions are 1 to 3/,
      );
    }
  });

  test("show secrets in their current state", async () => {
    const { id } = await beckon.createAgent({ tools: [tool({ secret, prefix: "Bearer " })] });
    const last4 = async () =>
      (await beckon.call(`/agents/${id}/versions/1`)).body.data.tools[0].headers.Authorization
        .secret_last4;
    expect(await last4()).toBe("1234");
    await change(id, { tools: [] });
    expect(await last4()).toBeNull();
  });
});

describe("a comparison", () => {
  test("returns every changed location with its values before and after", async () => {
    expect((await compare(agent.id, 1, "?with=2")).data).toEqual({
      from: 1,
      to: 2,
      changes: [
        { path: "/name", before: "One", after: "Two" },
        { path: "/limits/max_steps", before: 3, after: 4 },
      ],
    });
  });

  test("defaults to the current version and distinguishes absent from null", async () => {
    const { from, to, changes } = (await compare(agent.id, 2)).data;
    expect([from, to]).toEqual([2, 3]);
    expect(changes).toHaveLength(5);
    expect(changes).toEqual(
      expect.arrayContaining([
        { path: "/instructions", before: "", after: "Be brief." },
        { path: "/model_settings/temperature", after: 1 },
        { path: "/metadata/b/1", before: 2, after: 3 },
        { path: "/metadata/b/2", after: 4 },
        { path: "/metadata/c~1d~0e", before: true },
      ]),
    );
  });

  test("works from newer to older, and finds no differences of a version to itself", async () => {
    expect((await compare(agent.id, 3, "?with=3")).data.changes).toEqual([]);
    expect((await compare(agent.id, 3, "?with=2")).data.changes).toEqual(
      expect.arrayContaining([{ path: "/metadata/c~1d~0e", after: true }]),
    );
  });

  test.each([
    ["?with=9", 404, "not_found", /no such version/],
    ["?with=0", 400, "bad_request", /with/],
    ["?with=x", 400, "bad_request", /with/],
    ["?to=1", 400, "bad_request", /unknown query parameter to /],
  ])("%s is rejected", async (query, status, code, why) => {
    expectError(await beckon.call(`${versionPath}/1/compare${query}`), status, code, why);
  });

  test("shows that versions with the same model use different providers, one of them deleted", async () => {
    const address = "http://127.0.0.1:9/v1";
    const first = await beckon.createProvider(address, "replaced");
    const { id } = await beckon.createAgent({ model: "replaced/x" });
    await change(id, { model: "demo/echo" });
    await beckon.call(`/providers/${first.id}`, { method: "DELETE" });
    const second = await beckon.createProvider(address, "replaced");
    await change(id, { model: "replaced/x" });
    expect((await compare(id, 1)).data.changes).toEqual([
      { path: "/provider_id", before: first.id, after: second.id },
    ]);
    const providerOf = async (version: number) =>
      (await beckon.call(`/agents/${id}/versions/${version}`)).body.data.provider_id;
    expect([await providerOf(1), await providerOf(2)]).toEqual([first.id, null]);
  });

  test("shows that a secret changed, and at most its last four characters", async () => {
    const { id } = await beckon.createAgent({ tools: [tool({ secret, prefix: "Bearer " })] });
    await change(id, {
      tools: [{ ...tool({ secret: "sk-of-the-other-shop-9876" }), name: "other" }],
    });
    const response = await compare(id, 1);
    expect(response.data.changes.map(({ path }: { path: string }) => path)).toContain(
      "/tools/0/headers/Authorization/secret_id",
    );
    expect(JSON.stringify(response)).not.toMatch(/sk-/);
  });
});

describe("restoring a version", () => {
  test("adds a version that is equal to it", async () => {
    const { id } = await beckon.createAgent({ name: "One", tools: [{ type: "clock" }] });
    await change(id, { name: "Two", tools: [] });
    const response = await restore(id, 1);
    expect([response.status, response.headers.get("etag"), response.body.data]).toMatchObject([
      200,
      '"3"',
      { version: 3, name: "One", tools: [{ type: "clock" }] },
    ]);
    expect((await compare(id, 1, "?with=3")).data.changes).toEqual([]);
    expect(
      (await beckon.call("/agents?search=One")).body.data.map((found: { id: string }) => found.id),
    ).toContain(id);
  });

  test("is in the audit log with its changes", async () => {
    const { id } = await beckon.createAgent({ name: "One" });
    await change(id, { name: "Two" });
    await restore(id, 1);
    const { body } = await beckon.call(`/audit?target=${id}&action=agent.version.restore`);
    expect(body.data).toMatchObject([
      {
        data: {
          version: 3,
          restored: 1,
          before: { name: "Two" },
          after: { name: "One" },
          secrets: { deleted: 0 },
        },
      },
    ]);
  });

  test("of another provider is in the audit log with both providers", async () => {
    const provider = await beckon.createProvider("http://127.0.0.1:9/v1", "earlier");
    const { id } = await beckon.createAgent({ model: "earlier/x" });
    await change(id, { model: "demo/echo" });
    await restore(id, 1);
    const { body } = await beckon.call(`/audit?target=${id}&action=agent.version.restore`);
    expect(body.data[0].data).toMatchObject({
      before: { model: "demo/echo", provider_id: null },
      after: { model: "earlier/x", provider_id: provider.id },
    });
  });

  test("is rejected with a stale If-Match and succeeds with the current one", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Two" });
    expectError(await restore(id, 1, { "if-match": '"1"' }), 412, "stale", /version 2/);
    expect((await restore(id, 1, { "if-match": '"2"' })).body.data.version).toBe(3);
  });

  test("with If-Match succeeds for one of many concurrent requests", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Two" });
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => restore(id, 1, { "if-match": "2" })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
  });

  test("with an Idempotency-Key is done once, and a repeat succeeds although its If-Match is stale", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Two" });
    const send = () => restore(id, 1, { "idempotency-key": "again", "if-match": "2" });
    const [first, second] = [await send(), await send()];
    expect([
      first.body.data.version,
      second.body,
      second.headers.get("idempotency-replayed"),
    ]).toEqual([3, first.body, "true"]);
  });

  test("is rejected if its provider was deleted, also if another provider has its name", async () => {
    const provider = await beckon.createProvider("http://127.0.0.1:9/v1", "passing");
    const { id } = await beckon.createAgent({ model: "passing/x" });
    await change(id, { model: "demo/echo" });
    expect((await restore(id, 1)).status).toBe(200);
    await change(id, { model: "demo/echo" });
    await beckon.call(`/providers/${provider.id}`, { method: "DELETE" });
    expectError(
      await restore(id, 1),
      409,
      "conflict",
      /Version 1 cannot be restored.*no provider passing/,
    );
    await beckon.createProvider("http://127.0.0.1:9/v1", "passing");
    expectError(
      await restore(id, 1),
      409,
      "conflict",
      /its provider was deleted, and passing\/x now belongs to another provider/,
    );
    expect((await beckon.call(`/agents/${id}`)).body.data.version).toBe(4);
  });

  test("is rejected if a secret of its tools was deleted", async () => {
    const { id } = await beckon.createAgent({ tools: [tool({ secret })] });
    await change(id, { tools: [] });
    expectError(
      await restore(id, 1),
      409,
      "conflict",
      /Version 1 cannot be restored.*tools\.0\.headers\.Authorization refers to a secret that this agent does not have/,
    );
  });

  test("is rejected if it would send a secret to an origin it was not given for", async () => {
    const other = await startTargetServer();
    const { id } = await beckon.createAgent({ tools: [tool({ secret })] });
    await change(id, { tools: [tool({ secret: "sk-of-the-other-shop-9876" }, other.url)] });
    await other.close();
    expectError(await restore(id, 1), 409, "conflict", /would send its secret to/);
  });

  test("keeps secrets to which the version refers and deletes all others", async () => {
    const { id, token } = await beckon.createAgent({
      tools: [tool({ secret, prefix: "Bearer " })],
    });
    const { body } = await beckon.call(`/agents/${id}`);
    await change(id, {
      tools: [{ ...body.data.tools[0], query: { key: { secret: "sk-only-now-needed-9999" } } }],
    });
    expect((await restore(id, 1)).status).toBe(200);
    await beckon.invoke({ id, token }, "/call read {}");
    expect(target.reached.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
    const { rows } = await beckon.db.database.engine.query(
      "select id from agent_secrets where agent_id = $1",
      [id],
    );
    expect(rows).toHaveLength(1);
  });

  test("deletes secrets to which versions in between refer, so that these cannot be restored", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { tools: [tool({ secret })] });
    await change(id, { instructions: "Be brief." });
    expect((await restore(id, 1)).status).toBe(200);
    expectError(await restore(id, 2), 409, "conflict", /refers to a secret/);
  });
});

test("an agent keeps a stored default that its parameter does not accept, and only saving it fails", async () => {
  const { id, token } = await beckon.createAgent({ tools: [tool("x")] });
  await beckon.db.database.engine.query(
    `update agent_versions set config = jsonb_set(config, '{tools,0,operations,0}',
      config #> '{tools,0,operations,0}' || $2) where agent_id = $1`,
    [
      id,
      {
        query: { page: "{page}" },
        parameters: { type: "object", properties: { page: { type: "integer", default: "1" } } },
      },
    ],
  );
  expect((await beckon.invoke({ id, token }, "/call read {}")).status).toBe(200);
  expect(target.reached.at(-1)?.url).toBe("/orders?page=1");
  const changed = await change(id, { name: "Two" });
  const { tools } = changed.body.data;
  const duplicated = await beckon.call(`/agents/${id}/duplicate`, { method: "POST" });
  expect([changed.status, (await restore(id, 1)).status, duplicated.status]).toEqual([
    200, 200, 201,
  ]);
  // `beckon.call` rejects this document, because it is not one that can be imported.
  const exported = await fetch(`${beckon.url}/api/public/agents/${id}/export`, {
    headers: { "x-api-key": beckon.key },
  });
  const body = await exported.json();
  for (const rejected of [
    await change(id, { tools }),
    await beckon.call("/agents/import", { body }),
  ])
    expectError(
      rejected,
      400,
      "bad_request",
      /tools\.0\.operations\.0\.parameters\.properties\.page\.default must be of the parameter's type/,
    );
});

test("versions of agents of another workspace or outside a key's limit are not found", async () => {
  const other = await beckon.createAgent();
  const limited = await insertKey(beckon, { agentIds: [other.id] });
  for (const credential of [limited, await insertStranger(beckon)]) {
    for (const path of ["", "/1", "/1/compare"]) {
      expectError(await beckon.call(`${versionPath}${path}`, { credential }), 404, "not_found");
    }
    expectError(
      await beckon.call(`${versionPath}/1/restore`, { method: "POST", credential }),
      404,
      "not_found",
    );
  }
  expect(
    (await beckon.call(`/agents/${other.id}/versions`, { credential: limited })).body.data,
  ).toHaveLength(1);
});
