import { expect, test } from "vitest";
import { parseFromServer, parseFromSupervisor } from "./messages.ts";

const demo = { agent_id: "agt_1", agent_token: "bka_1", trigger_url: "http://x", is_offered: true };
const ollama = { name: "ollama", origin: "discovered", model: "ollama/qwen3" };
const ready = {
  type: "ready",
  url: "http://x",
  listening_url: "http://127.0.0.1:3000",
  demo,
  setup_token: "bks_1",
  providers: [ollama],
};

test.each([
  ready,
  { ...ready, setup_token: null },
  { ...ready, demo: null },
  { ...ready, demo: { ...demo, agent_token: null, trigger_url: null } },
  { ...ready, providers: [] },
  { ...ready, providers: [{ name: "openai", origin: "environment", model: null }] },
  { type: "failed", reason: "The database is down." },
  { type: "draining", runs: 3 },
  { type: "registered", process_id: "prc_1" },
  { type: "metrics", id: 1, metrics: [{ name: "beckon_processes" }] },
  { type: "pong" },
])("a server's message is parsed, and unknown fields are dropped: %j", (message) => {
  expect(parseFromServer({ ...message, more: 1 })).toEqual(message);
});

test.each([
  undefined,
  null,
  "ready",
  {},
  { type: "ready" },
  { ...ready, url: 1 },
  { ...ready, setup_token: 1 },
  { ...ready, demo: { agent_id: "agt_1" } },
  { ...ready, providers: undefined },
  { ...ready, providers: [{}] },
  { ...ready, providers: [{ ...ollama, origin: "guessed" }] },
  { type: "failed" },
  { type: "draining", runs: -1 },
  { type: "metrics", id: 1, metrics: [null] },
])("a server's message that does not match is dropped: %j", (message) => {
  expect(parseFromServer(message)).toBeUndefined();
});

test("the supervisor's message is parsed, and one that does not match is dropped", () => {
  const exited = { type: "exited", process_ids: ["prc_1"] };
  expect(parseFromSupervisor({ ...exited, more: 1 })).toEqual(exited);
  const collect = { type: "collect", id: 1, database: true };
  expect(parseFromSupervisor({ ...collect, more: 1 })).toEqual(collect);
  expect(parseFromSupervisor({ type: "ping" })).toEqual({ type: "ping" });
  for (const message of [undefined, { type: "exited" }, { type: "exited", process_ids: [1] }])
    expect(parseFromSupervisor(message)).toBeUndefined();
});
