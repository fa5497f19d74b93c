import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const fire = async (url: string) =>
  (await beckon.call(url, { credential: null, body: "Hello" })).status;
const idsOf = ({ body }: Answer): string[] =>
  body.data.map((trigger: { id: string }) => trigger.id);

async function made(body: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, body);
  return { agent, ...trigger, path: `/agents/${agent.id}/triggers/${trigger.id}` };
}

describe("creating a trigger", () => {
  test("returns the whole trigger with its token and URL", async () => {
    const agent = await beckon.createAgent();
    const { status, body } = await beckon.call(`/agents/${agent.id}/triggers`, {
      body: { name: "Mail" },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      ok: true,
      data: {
        id: expect.stringMatching(/^trg_[0-9a-z]{26}$/),
        agent_id: agent.id,
        version: expect.stringMatching(/^[\w-]{16}$/),
        name: "Mail",
        prompt_prefix: "",
        allows_callback: false,
        receiving: null,
        sender_secret_set: false,
        listening_until: null,
        enabled: true,
        created_at: time,
        updated_at: time,
        token: expect.stringMatching(/^bkt_[\w-]{48}$/),
        url: `${beckon.url}/api/public/triggers/${body.data.token}`,
      },
    });
  });

  test("returns its URL in Location", async () => {
    const agent = await beckon.createAgent();
    const { headers, body } = await beckon.call(`/agents/${agent.id}/triggers`, {
      body: { name: "Mail" },
    });
    const found = await beckon.call(new URL(headers.get("location") ?? "", beckon.url).href);
    const { token: _, url: __, ...shown } = body.data;
    expect(found.body).toEqual({ ok: true, data: shown });
  });

  test("can create it disabled", async () => {
    const { url } = await made({ enabled: false });
    expectError(
      await beckon.call(url, { credential: null, body: "Hello" }),
      409,
      "trigger_disabled",
    );
  });

  test("allows any number of triggers per agent", async () => {
    const agent = await beckon.createAgent();
    const [one, other] = [
      await beckon.createTrigger(agent.id),
      await beckon.createTrigger(agent.id),
    ];
    expect([await fire(one.url), await fire(other.url)]).toEqual([200, 200]);
  });

  test.each([
    ["name", ""],
    ["name", 5],
    ["prompt_prefix", "a\0b"],
    ["prompt_prefix", "x".repeat(100_001)],
    ["enabled", "yes"],
  ])("with the %s %j is rejected", async (member, value) => {
    const agent = await beckon.createAgent();
    const response = await beckon.call(`/agents/${agent.id}/triggers`, {
      body: { name: "Mail", [member]: value },
    });
    expectError(response, 400, "bad_request", new RegExp(member));
  });
});

describe("the list of an agent's triggers", () => {
  test("is sorted newest first and paginated", async () => {
    const agent = await beckon.createAgent();
    const all: string[] = [];
    for (let index = 0; index < 3; index++) all.unshift((await beckon.createTrigger(agent.id)).id);
    const first = await beckon.call(`/agents/${agent.id}/triggers?limit=2`);
    const second = await beckon.call(
      `/agents/${agent.id}/triggers?limit=2&after=${first.body.next}`,
    );
    expect([idsOf(first), idsOf(second), second.body.next]).toEqual([
      all.slice(0, 2),
      all.slice(2),
      null,
    ]);
  });

  test("contains no triggers of other agents", async () => {
    const { agent, id } = await made();
    await made();
    expect(idsOf(await beckon.call(`/agents/${agent.id}/triggers`))).toEqual([id]);
  });

  test("rejects a cursor of another agent", async () => {
    const one = await made();
    await beckon.createTrigger(one.agent.id);
    const { next } = (await beckon.call(`/agents/${one.agent.id}/triggers?limit=1`)).body;
    const response = await beckon.call(`/agents/${(await made()).agent.id}/triggers?after=${next}`);
    expectError(response, 400, "bad_request", /cursor/);
  });
});

describe("a trigger", () => {
  test("is not found under another agent", async () => {
    const { id } = await made();
    const other = await beckon.createAgent();
    for (const method of ["GET", "PATCH", "DELETE"]) {
      expectError(
        await beckon.call(`/agents/${other.id}/triggers/${id}`, { method }),
        404,
        "not_found",
      );
    }
  });

  test("is changed field by field", async () => {
    const { path, id } = await made({ name: "Before", prompt_prefix: "Prefix" });
    const { status, body } = await beckon.call(path, { method: "PATCH", body: { name: "After" } });
    expect([status, body.data]).toMatchObject([
      200,
      { id, name: "After", prompt_prefix: "Prefix", enabled: true },
    ]);
    const { warnings, ...changed } = body.data;
    expect([warnings, (await beckon.call(path)).body.data]).toEqual([[], changed]);
  });

  test("is changed only at the version that was read; a new URL or secret is no new version", async () => {
    const { path } = await made({ receiving: { verification: { kind: "basic" } } });
    const read = await beckon.call(path);
    const { version } = read.body.data;
    expect(read.headers.get("etag")).toBe(`"${version}"`);
    await beckon.call(`${path}/rotate`, { body: {} });
    await beckon.call(`${path}/secret`, { body: {} });
    await beckon.call(`${path}/listen`, { body: { seconds: 60 } });
    const patch = (change: object) =>
      beckon.call(path, { method: "PATCH", body: change, headers: { "if-match": `"${version}"` } });
    const first = await patch({ receiving: { verification: { kind: "none" } } });
    expect([first.status, first.headers.get("etag")]).toEqual([
      200,
      `"${first.body.data.version}"`,
    ]);
    expectError(await patch({ name: "Mine" }), 412, "stale", /Read it again/);
    expectError(
      await beckon.call(path, { method: "DELETE", headers: { "if-match": `"${version}"` } }),
      412,
      "stale",
    );
    expect((await beckon.call(path)).body.data).toMatchObject({
      name: read.body.data.name,
      version: first.body.data.version,
    });
  });

  test("that is disabled rejects fires until it is enabled", async () => {
    const { path, url } = await made();
    const enable = (enabled: boolean) => beckon.call(path, { method: "PATCH", body: { enabled } });
    await enable(false);
    expectError(
      await beckon.call(url, { credential: null, body: "Hello" }),
      409,
      "trigger_disabled",
    );
    await enable(true);
    expect(await fire(url)).toBe(200);
  });

  test("that is deleted is not found", async () => {
    const { path, agent } = await made();
    const { status, body } = await beckon.call(path, { method: "DELETE" });
    expect([status, body]).toEqual([204, undefined]);
    expectError(await beckon.call(path), 404, "not_found");
    expect(idsOf(await beckon.call(`/agents/${agent.id}/triggers`))).toEqual([]);
  });

  test("that is deleted keeps its runs readable", async () => {
    const { path, url, id } = await made();
    const { body } = await beckon.call(url, { credential: null, body: "Hello" });
    await beckon.call(path, { method: "DELETE" });
    expect((await beckon.call(`/runs/${body.run_id}`)).body.data.trigger_id).toBe(id);
  });
});

describe("rotating a trigger", () => {
  const rotate = async (path: string, body?: unknown) =>
    (await beckon.call(`${path}/rotate`, { method: "POST", body })).body.data;

  test("returns the trigger with a new token and URL", async () => {
    const { path, id, token } = await made();
    const rotated = await rotate(path);
    expect(rotated).toMatchObject({ id, name: "Test", token: expect.stringMatching(/^bkt_/) });
    expect(rotated.token).not.toBe(token);
    expect(rotated.url).toBe(`${beckon.url}/api/public/triggers/${rotated.token}`);
  });

  test("makes the old URL invalid at once", async () => {
    const { path, url } = await made();
    const rotated = await rotate(path);
    expect([await fire(url), await fire(rotated.url)]).toEqual([401, 200]);
  });

  test("with a grace period keeps one old URL valid", async () => {
    const { path, url: first } = await made();
    const second = await rotate(path, { grace_seconds: 60 });
    const third = await rotate(path, { grace_seconds: 60 });
    expect([await fire(first), await fire(second.url), await fire(third.url)]).toEqual([
      401, 200, 200,
    ]);
  });

  test("does not affect the agent's other triggers and its token", async () => {
    const { path, agent } = await made();
    const other = await beckon.createTrigger(agent.id);
    await rotate(path);
    expect([await fire(other.url), (await beckon.invoke(agent, "Hello")).status]).toEqual([
      200, 200,
    ]);
  });

  test("that is disabled keeps both URLs disabled", async () => {
    const { path, url } = await made();
    const rotated = await rotate(path, { grace_seconds: 60 });
    await beckon.call(path, { method: "PATCH", body: { enabled: false } });
    expect([await fire(url), await fire(rotated.url)]).toEqual([409, 409]);
  });

  test("with a grace period above a week is rejected", async () => {
    const { path } = await made();
    const response = await beckon.call(`${path}/rotate`, { body: { grace_seconds: 604_801 } });
    expectError(response, 400, "bad_request", /grace_seconds/);
  });
});

describe("revealing a trigger", () => {
  test("returns token and URL", async () => {
    const { path, id, token, url } = await made();
    const { status, body } = await beckon.call(`${path}/token`);
    expect([status, body.data]).toMatchObject([200, { id, token, url }]);
  });

  test("is in the audit log", async () => {
    const { path, id } = await made();
    await beckon.call(`${path}/token`);
    const { rows } = await beckon.db.database.engine.query(
      "select actor from audit where action = 'trigger.reveal' and target = $1",
      [id],
    );
    expect(rows).toEqual([{ actor: expect.stringMatching(/^key:key_/) }]);
  });
});
