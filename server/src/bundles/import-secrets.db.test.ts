import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { createReceiving } from "../../test/receiving-trigger.ts";
import { startTargetServer } from "../../test/target-server.ts";

const beckon = await startTestBeckon();
const target = await startTargetServer();
afterAll(() => target.close());
beforeEach(() => {
  target.reached.length = 0;
});

const secret = "sk-the-secret-of-the-shop-1234";
const key = "the-other-secret";
const tool = (authorization: unknown, query: object) => ({
  type: "http",
  name: "shop",
  allowed_hosts: [target.host],
  headers: { Authorization: authorization },
  operations: [
    { name: "read", description: "Reads", method: "GET", url: `${target.url}/orders`, query },
  ],
});

/** Imports an agent with this tool. */
async function imported(given: unknown) {
  const agents = [{ name: "Ada", model: "demo/echo", tools: [given] }];
  return (await beckon.call("/agents/import", { body: { beckon: 1, agents } })).body.data.agents[0];
}
const withoutSecrets = () =>
  imported(tool({ secret: null, prefix: "Bearer " }, { key: { secret: null } }));
/** The request of the tool after both secrets were given. */
const complete = { url: `/orders?key=${key}`, headers: { authorization: `Bearer ${secret}` } };

test("missing secrets of an import are shown, and their tool fails until they are given", async () => {
  const made = await withoutSecrets();
  const path = `/agents/${made.id}`;
  const shown = (await beckon.call(path)).body.data.tools;
  expect(shown[0].headers.Authorization).toEqual({
    secret_id: expect.stringMatching(/^sec_/),
    secret_last4: null,
    prefix: "Bearer ",
  });
  expect((await beckon.invoke(made, "/call read {}")).body.output).toMatch(
    /credential was never entered/,
  );
  // Gives one secret per update. References to secrets that are still missing are accepted.
  shown[0].headers.Authorization = { secret, prefix: "Bearer " };
  const half = await beckon.call(path, { method: "PATCH", body: { tools: shown } });
  expect(half.status).toBe(200);
  expect((await beckon.invoke(made, "/call read {}")).body.output).toMatch(
    /credential was never entered/,
  );
  const { tools } = half.body.data;
  expect(tools[0].headers.Authorization.secret_last4).toBe("1234");
  tools[0].operations[0].query.key = { secret: key };
  expect((await beckon.call(path, { method: "PATCH", body: { tools } })).status).toBe(200);
  await beckon.invoke(made, "/call read {}");
  expect(target.reached).toMatchObject([complete]);
});

test("secrets that were missing in an import belong to its first version, too", async () => {
  const made = await withoutSecrets();
  const path = `/agents/${made.id}`;
  const trigger = await createReceiving(
    beckon,
    made.id,
    { when_paused: "hold" },
    { prefix: "/call read {}" },
  );
  await beckon.call(`${path}/pause`, { method: "POST" });
  const { run_id: runId } = (await trigger.send({ number: 1 })).body;
  const tools = [tool({ secret, prefix: "Bearer " }, { key: { secret: key } })];
  await beckon.call(path, { method: "PATCH", body: { tools } });
  await beckon.call(`${path}/resume`, { method: "POST" });
  const run = await eventually("the end of the held run", async () => {
    const { data } = (await beckon.call(`/runs/${runId}`)).body;
    return data.finished_at === null ? undefined : data;
  });
  expect(run).toMatchObject({ status: "succeeded", agent_version: 1 });
  expect(target.reached).toMatchObject([complete]);
  const restored = await beckon.call(`${path}/versions/1/restore`, { method: "POST" });
  expect(restored.status).toBe(200);
  await beckon.invoke(made, "/call read {}");
  expect(target.reached).toMatchObject([complete, complete]);
});

test("secrets that were filled into a document are stored, and not shown", async () => {
  const made = await imported(tool({ secret, prefix: "Bearer " }, { key: { secret: key } }));
  expect(made.secrets_needed).toEqual([]);
  expect(JSON.stringify(made)).not.toContain(secret);
  await beckon.invoke(made, "/call read {}");
  expect(target.reached).toMatchObject([complete]);
});
