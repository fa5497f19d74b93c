import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HubMessage, TabMessage } from "./protocol.ts";

/** Requests of event streams: the workspace, and the cursor after which the stream resumes. */
const streams: (readonly [string | null, string | null])[] = [];
/** Requests that start a run. They get no response. */
const starts: AbortSignal[] = [];

/** Receive the messages of tabs and other workers. */
const listeners: ((message: { readonly data: object }) => void)[] = [];
/** Sends a message to tabs and other workers. */
const announce = vi.fn();

/** Stubs the globals that the worker uses when it is loaded and later. A stream has one event. */
function stubWorker() {
  vi.stubGlobal("location", { origin: "https://beckon.test" });
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      addEventListener = (_: string, listener: (typeof listeners)[number]) =>
        listeners.push(listener);
      postMessage = announce;
    },
  );
  vi.stubGlobal("fetch", async (url: string, { headers, signal }: RequestInit) => {
    if (signal != null && url.endsWith("/invoke")) {
      starts.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    }
    const sent = new Headers(headers);
    streams.push([sent.get("beckon-workspace"), sent.get("last-event-id")]);
    const event = { type: "run.started", cursor: "c1" };
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
        signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
}

// The worker sets an interval that it never clears. With fake timers, it does not run in the tests.
vi.useFakeTimers({ toFake: ["setInterval"] });
stubWorker();
await import("./worker.ts");
const announced = [...announce.mock.calls];
const { onconnect } = globalThis as unknown as { onconnect: (event: { ports: object[] }) => void };

/** Connects a tab to the worker. */
function connect() {
  const received: HubMessage[] = [];
  const port = {
    onmessage: (_: { readonly data: TabMessage }) => {},
    addEventListener: () => {},
    postMessage: (message: HubMessage) => received.push(message),
  };
  onconnect({ ports: [port] });
  const say = (data: TabMessage) => port.onmessage({ data });
  const hasEvent = () => received.some(({ type }) => type === "event");
  const status = () => received.findLast(({ type }) => type === "status");
  const runState = () => received.findLast(({ type }) => type === "run state");
  return { say, hasEvent, status, runState };
}

beforeEach(() => {
  stubWorker();
  streams.length = 0;
  starts.length = 0;
});
const opened: ReturnType<typeof connect>[] = [];
async function open(workspaceId: string, userId = "usr_ada") {
  const tab = connect();
  opened.push(tab);
  tab.say({ type: "hello", workspaceId, userId, isHidden: false });
  await vi.waitFor(() => expect(tab.hasEvent()).toBe(true));
  return tab;
}
afterEach(() => {
  for (const tab of opened) tab.say({ type: "bye" });
});

test("a workspace that no tab shows any more is read anew, and not from where it was left", async () => {
  await open("wsp_1");
  const tab = await open("wsp_2");
  tab.say({ type: "bye" });
  await open("wsp_2");
  expect(streams).toEqual([
    ["wsp_1", null],
    ["wsp_2", null],
    ["wsp_2", null],
  ]);
});

test("another person ends a start, also after the last tab of its workspace has left", async () => {
  const tab = await open("wsp_1");
  const run = { startId: 1, agentId: "agt_1", input: "Hello", idempotencyKey: "k" };
  tab.say({ type: "start run", ...run });
  await vi.waitFor(() => expect(starts).toHaveLength(1));
  tab.say({ type: "bye" });
  expect(starts[0]?.aborted).toBe(false);
  await open("wsp_2", "usr_grace");
  expect(starts[0]?.aborted).toBe(true);
});

test("a worker announces its start", () => {
  expect(announced).toEqual([[{ type: "worker started" }]]);
});

// The last test, because the worker does not open more streams again.
test("a worker keeps one stream once that of another build has started, and says so", async () => {
  const [first, second] = [await open("wsp_1"), await open("wsp_2")];
  second.say({ type: "watch run", runId: "run_1", after: 0 });
  await vi.waitFor(() => expect(second.runState()).toMatchObject({ state: "live" }));
  const states = () => [first, second].map(({ status }) => status());
  const live = { status: { state: "live" } };
  expect(states()).toMatchObject([live, live]);

  for (const receive of listeners) receive({ data: { type: "worker started" } });
  expect(second.runState()).toMatchObject({ state: "replaced" });
  expect(states()).toMatchObject([{ status: { state: "not live" } }, live]);

  // A run that is opened later takes the connection of its workspace.
  second.say({ type: "watch run", runId: "run_1", after: 0 });
  await vi.waitFor(() => expect(second.runState()).toMatchObject({ state: "live" }));
  expect(second.status()).toMatchObject({ status: { state: "not live" } });
});
