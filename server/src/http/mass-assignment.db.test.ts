import { describe, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectRefusal } from "../../test/refusal.ts";

/** Members that only the server sets, in every body that creates or changes something. */

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
const { data: key } = (await beckon.call("/keys", { body: { name: "Test", preset: "invoke" } })).body;

const { body: invoked } = await beckon.invoke(agent, "Hello");

const bodies: readonly (readonly [method: string, path: string, body: Record<string, unknown>])[] = [
  ["POST", "/agents", { name: "Test", model: "demo/echo" }],
  ["PATCH", `/agents/${agent.id}`, { name: "Test" }],
  ["POST", `/agents/${agent.id}/duplicate`, { name: "Test" }],
  ["POST", `/agents/${agent.id}/versions/1/restore`, {}],
  ["POST", "/agents/import", { beckon: 1, agents: [] }],
  ["POST", `/agents/${agent.id}/triggers`, { name: "Test" }],
  ["PATCH", `/agents/${agent.id}/triggers/${trigger.id}`, { name: "Test" }],
  ["POST", `/runs/${invoked.run_id}/retry`, {}],
  ["POST", "/runs/cancel", { all: true }],
  ["POST", "/runs/delete", { all: true }],
  ["POST", "/providers", { name: "other", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" }],
  ["PATCH", `/providers/${provider.id}`, {}],
  ["POST", "/keys", { name: "Test", preset: "invoke" }],
  ["PATCH", `/keys/${key.id}`, { name: "Test" }],
];
const members = [
  "id",
  "workspace_id",
  "role",
  "created_at",
  "updated_at",
  "deleted_at",
  "created_by",
  "version",
  "token",
  "key",
  "hash",
  "bootstrap",
  "last_used_at",
  "__proto__",
];

describe.each(bodies)("%s %s", (method, path, body) => {
  test.each(members)("does not take %s", async (member) => {
    // As text: a member named __proto__ would be lost in an object.
    const text = `${JSON.stringify(body).slice(0, -1)}${Object.keys(body).length > 0 ? "," : ""}${JSON.stringify(member)}:"x"}`;
    const answer = await beckon.call(path, { method, body: text, headers: { "content-type": "application/json" } });
    expectRefusal(answer, 400, "bad_request", new RegExp(`\\b${member}\\b`));
  });
});
