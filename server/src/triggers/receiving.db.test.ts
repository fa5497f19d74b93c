import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey } from "../../test/workspace-key.ts";


const beckon = await startTestBeckon();

const github = async () => {
  const { body } = await beckon.call("/trigger-presets");
  return body.data.find(({ name }: { name: string }) => name === "github").receiving;
};

async function made(receiving: unknown, body: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { receiving, ...body });
  return { agent, ...trigger, path: `/agents/${agent.id}/triggers/${trigger.id}` };
}
const patch = (path: string, receiving: unknown) =>
  beckon.call(path, { method: "PATCH", body: { receiving } });
const post = (path: string, body?: unknown) =>
  beckon.call(path, { method: "POST", ...(body === undefined ? {} : { body }) });
const send = (url: string, payload: unknown, headers: Record<string, string> = {}) =>
  beckon.call(url, { method: "POST", credential: null, body: payload, headers });
const requestsOf = async (path: string) => (await beckon.call(`${path}/requests`)).body.data;

describe("settings of what a trigger accepts", () => {
  test("are null by default, and get the defaults of what they leave out", async () => {
    expect((await made(undefined)).receiving).toBeNull();
    const { receiving, sender_secret_set, listening_until, path } = await made({
      headers: ["X-Shop-Event"],
    });
    expect({ sender_secret_set, listening_until }).toEqual({
      sender_secret_set: false,
      listening_until: null,
    });
    expect(receiving).toMatchObject({
      verification: { kind: "none" },
      headers: ["x-shop-event"],
      template: null,
      bodies: { max_bytes: 1_048_576 },
    });
    expect((await beckon.call(path)).body.data.receiving).toEqual(receiving);
  });

  test("are replaced as a whole, and null returns to the default", async () => {
    const { path } = await made({ headers: ["x-one"] });
    const { body } = await patch(path, { query: ["two"] });
    expect(body.data).toMatchObject({ receiving: { headers: [], query: ["two"] }, warnings: [] });
    expect((await patch(path, null)).body.data.receiving).toBeNull();
  });

  test("that another change does not name are kept", async () => {
    const { path } = await made({ headers: ["x-one"] });
    const { body } = await beckon.call(path, { method: "PATCH", body: { name: "Other" } });
    expect(body.data).toMatchObject({ name: "Other", receiving: { headers: ["x-one"] } });
  });

  test.each([
    ["a filter that is not CEL", { filter: "payload.a ==" }, /receiving\.filter, line 1: .*found/],
    ["an unknown variable", { filter: "true &&\n paylod.a == 1" }, /line 2: There is no variable paylod/],
    ["an unknown function", { filter: "exec('ls')" }, /There is no function exec/],
    ["an unknown tag", { template: "\n{% exec %}" }, /receiving\.template, line 2: Tag "exec" not found/],
    ["a tag that reads files", { template: "{% include 'x' %}" }, /"include" not found/],
    ["an unknown filter of Liquid", { template: "{{ payload | exec }}" }, /Undefined filter: exec/],
    ["large bodies without a template", { bodies: { max_bytes: 2_000_000 } }, /max_bytes can be more than/],
    ["a header of credentials", { headers: ["authorization"] }, /receiving\.headers\.0/],
    ["an unknown field", { retries: 3 }, /unknown field receiving\.retries/],
  ])("with %s are rejected", async (_, receiving, message) => {
    const agent = await beckon.createAgent();
    const created = await post(`/agents/${agent.id}/triggers`, { name: "Bad", receiving });
    expectError(created, 400, "bad_request", message);
    const { path } = await made({});
    expectError(await patch(path, receiving), 400, "bad_request", message);
    expect((await beckon.call(path)).body.data.receiving).toMatchObject({ filter: null });
  });

  test("are saved with a warning if they fail for the last received request", async () => {
    const { path, url } = await made({});
    expect((await send(url, { kind: "a" })).status).toBe(200);
    const { status, body } = await patch(path, { filter: "payload.total > 3" });
    expect([status, body.data.warnings]).toEqual([
      200,
      [{ part: "filter", message: expect.stringMatching(/no field total/), line: 1 }],
    ]);
    const mended = await patch(path, { filter: "has(payload.total) && payload.total > 3" });
    expect(mended.body.data.warnings).toEqual([]);
  });

  test("are exported without secrets, and imported", async () => {
    const { agent, path, receiving } = await made(await github());
    const { secret } = (await post(`${path}/secret`)).body.data;
    const document = (await beckon.call(`/agents/${agent.id}/export`)).body;
    expect(document.agents[0].triggers).toMatchObject([{ receiving }]);
    expect(JSON.stringify(document)).not.toContain(secret);
    const imported = (await post("/agents/import", document)).body.data.agents[0];
    const [trigger] = (await beckon.call(`/agents/${imported.id}/triggers`)).body.data;
    expect(trigger).toMatchObject({ receiving, sender_secret_set: false });
  });
});
