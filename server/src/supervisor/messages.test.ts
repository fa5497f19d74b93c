import { expect, test } from "vitest";
import { parseFromServer, parseFromSupervisor } from "./messages.ts";

test("a message that fits is read without what it has beyond", () => {
  const demo = { agent_id: "agt_1", agent_token: "bka_1", trigger_url: "http://x" };
  const providers = [{ name: "ollama", origin: "discovered", model: "ollama/qwen3" }];
  const ready = {
    type: "ready",
    url: "http://x",
    demo,
    created: true,
    setup_token: "bks_1",
    providers,
  };
  expect(parseFromServer({ ...ready, more: 1 })).toEqual(ready);
  expect(parseFromServer({ ...ready, setup_token: null })).toEqual({ ...ready, setup_token: null });
  expect(parseFromServer({ ...ready, demo: null })).toEqual({ ...ready, demo: null });
  expect(parseFromSupervisor({ type: "reaped", process_ids: ["prc_1"], more: 1 })).toEqual({
    type: "reaped",
    process_ids: ["prc_1"],
  });
});

test("a message that does not fit is dropped", () => {
  for (const message of [
    undefined,
    null,
    "ready",
    {},
    { type: "ready" },
    { type: "ready", url: "x", created: true },
    { type: "ready", url: "x", created: true, setup_token: null, demo: null },
    { type: "ready", url: "x", created: true, setup_token: null, demo: null, providers: [{}] },
  ]) {
    expect(parseFromServer(message)).toBeUndefined();
  }
  expect(
    parseFromServer({
      type: "ready",
      url: "x",
      created: true,
      setup_token: null,
      providers: [],
      demo: { agent_id: 1 },
    }),
  ).toBeUndefined();
  expect(
    parseFromServer({
      type: "ready",
      url: "x",
      created: true,
      setup_token: 1,
      demo: null,
      providers: [],
    }),
  ).toBeUndefined();
  for (const message of [undefined, { type: "reaped" }, { type: "reaped", process_ids: [1] }]) {
    expect(parseFromSupervisor(message)).toBeUndefined();
  }
});
