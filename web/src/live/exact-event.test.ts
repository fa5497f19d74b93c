import { createClient } from "@beckon/client";
import { expect, test, vi } from "vitest";
import { exactEvent } from "./exact-event.ts";
import { createHub } from "./hub.ts";
import type { HubMessage } from "./protocol.ts";
import { createStreamBudget } from "./stream-budget.ts";

/** Returns the events of a run that a tab gets from the hub if the server sends these events. */
async function sentThroughHub(...events: string[]) {
  const headers = { "content-type": "text/event-stream" };
  const frames = events.map((event) => `data: ${event}\n\n`).join("");
  const fetch = async (url: string) =>
    new Response(url.includes("/runs/") ? frames : "", { headers });
  const client = createClient({ url: "http://127.0.0.1", fetch: fetch as typeof globalThis.fetch });
  const hub = createHub({ client, budget: createStreamBudget(), now: Date.now });
  const received: HubMessage[] = [];
  // Messages between a SharedWorker and its tabs are cloned.
  const tab = { send: (message: HubMessage) => received.push(structuredClone(message)) };
  hub.receive(tab, { type: "hello", workspaceId: "wsp_1", userId: "usr_1", isHidden: false });
  hub.receive(tab, { type: "watch run", runId: "run_1", after: 0 });
  const ofRun = () =>
    received.flatMap((message) => (message.type === "run event" ? [message] : []));
  await vi.waitFor(() => expect(ofRun()).toHaveLength(events.length));
  hub.removeTabs();
  return ofRun().map(({ event }) => event);
}

test("events of a run keep integers that a number cannot represent, also through the worker", async () => {
  const result =
    '{"seq":1,"type":"run.tool_result","data":{"result":{"id":9007199254740993,"n":[1.5,-9007199254740993]}}}';
  const end = '{"seq":2,"type":"run.finished","data":{"output":"Done"}}';
  const sent = await sentThroughHub(result, end);
  expect(sent.map((event) => JSON.stringify(exactEvent(event)))).toEqual([result, end]);
});
