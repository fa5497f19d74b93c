import { BeckonError, type StreamNotice, type WorkspaceEvent } from "@beckon/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHub, type HubOptions } from "./hub.ts";
import { createLive } from "./live.ts";
import type { HubMessage, RunStreamState, SentEvent, Tab } from "./protocol.ts";
import { createStreamBudget } from "./stream-budget.ts";

const opened = { type: "stream.opened", cursor: "a", data: {} } as StreamNotice;
const notFound = new BeckonError({ code: "not_found", message: "No agent.", status: 404 });

/** Yields the events. Like the streams of the client, it lasts until the signal aborts. */
async function* stream(signal: AbortSignal, ...events: readonly StreamNotice[]) {
  yield* events;
  await new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

interface StreamOptions {
  readonly signal: AbortSignal;
  readonly onActivity: () => void;
  readonly onDisconnect: () => void;
}

/** Connects a tab to a hub with a fake client. Resolves when the workspace's stream is open. */
async function openTab({ checkSession = async () => true } = {}) {
  const watchEvents = vi.fn((_: object, { signal }: StreamOptions) => stream(signal, opened));
  const startAndWatch = vi.fn(() => Promise.reject(notFound));
  const watchRun = vi.fn((_: string, { signal }: { signal: AbortSignal }) => stream(signal));
  const client = {
    agents: { startAndWatch },
    events: { watch: watchEvents },
    runs: { watch: watchRun },
  } as unknown as HubOptions["client"];
  const hub = createHub({ client, budget: createStreamBudget(), now: Date.now });
  const onOpened = vi.fn();
  const onLiveAgain = vi.fn();
  const onReset = vi.fn();
  /** Sends a message to the tab, as the hub does. */
  let send = (_: HubMessage) => {};
  const live = createLive({
    workspaceId: "wsp_1",
    userId: "usr_ada",
    connect(ids, receive) {
      send = receive;
      const tab: Tab = { send: (message) => queueMicrotask(() => receive(message)) };
      const rejoin = () => hub.receive(tab, { type: "hello", ...ids, isHidden: false });
      rejoin();
      return { send: (message) => hub.receive(tab, message), rejoin, close: () => {} };
    },
    onOpened,
    onLiveAgain,
    onReset,
    checkSession,
  });
  live.connect();
  await vi.waitFor(() => expect(onOpened).toHaveBeenCalled());
  return { hub, live, send, watchEvents, startAndWatch, watchRun, onLiveAgain, onReset };
}

/**
 * Opens a tab that the hub removes twice. After the second time, the tab does not connect again by
 * itself. It waits until the person retries or starts a run.
 */
async function openWaitingTab(options: Parameters<typeof openTab>[0] = {}) {
  const tab = await openTab(options);
  tab.hub.removeTabs();
  await vi.waitFor(() => expect(tab.watchEvents).toHaveBeenCalledTimes(2));
  tab.hub.removeTabs();
  await vi.waitFor(() => expect(tab.live.status().state).toBe("not live"));
  return tab;
}

const run = { agentId: "agt_1", input: "Hello", idempotencyKey: "k" };

test("a tab that the hub has removed connects again if the same person is signed in", async () => {
  const { hub, watchEvents, onReset } = await openTab();
  hub.removeTabs();
  await vi.waitFor(() => expect(watchEvents).toHaveBeenCalledTimes(2));
  // The tab has missed the events between the two streams, so all data must be refetched. The
  // reset has no reason, because there is nothing to explain to the person.
  await vi.waitFor(() => expect(onReset.mock.calls).toEqual([[undefined]]));
});

test("a tab notices that its stream is live again, not that it is live at first", async () => {
  const { live, watchEvents, onLiveAgain } = await openTab();
  const options = watchEvents.mock.lastCall?.[1];
  const states: [string, number][] = [];
  live.onStatus(() => states.push([live.status().state, onLiveAgain.mock.calls.length]));
  options?.onActivity();
  options?.onDisconnect();
  options?.onActivity();
  await vi.waitFor(() => expect(onLiveAgain).toHaveBeenCalledOnce());
  expect(states).toEqual([
    ["live", 0],
    ["reconnecting", 0],
    ["live", 0],
  ]);
});

test("a tab that is removed before it is live again waits for the person", async () => {
  const { live, watchEvents } = await openWaitingTab();
  expect(watchEvents).toHaveBeenCalledTimes(2);
  live.retry();
  await vi.waitFor(() => expect(watchEvents).toHaveBeenCalledTimes(3));
});

test("a run that is started after the hub has removed the tab gets the server's error", async () => {
  const { live } = await openWaitingTab();
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "not_found" });
});

test("a run that is started while the hub removes the tab fails at once", async () => {
  const { hub, live } = await openTab();
  hub.removeTabs();
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "not_sent" });
});

test("no run is started if another person has signed in", async () => {
  const { hub, live, startAndWatch } = await openTab({ checkSession: async () => false });
  hub.removeTabs();
  await vi.waitFor(() => expect(live.status().state).toBe("not live"));
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "not_sent" });
  expect(startAndWatch).not.toHaveBeenCalled();
});

test("the stream of a run has failed once the hub has removed the tab", async () => {
  const { hub, live, watchRun } = await openTab({ checkSession: async () => false });
  const states: RunStreamState[] = [];
  live.watchRun("run_1", { after: 0, handle: () => {}, setState: (state) => states.push(state) });
  expect(watchRun).toHaveBeenCalledOnce();
  hub.removeTabs();
  await vi.waitFor(() => expect(states).toEqual(["failed"]));
});

test("a run that is shown is watched again after the tab has connected again", async () => {
  const { hub, live, watchRun } = await openTab();
  live.watchRun("run_1", { after: 7, handle: () => {}, setState: () => {} });
  hub.removeTabs();
  await vi.waitFor(() => expect(watchRun).toHaveBeenCalledTimes(2));
  expect(watchRun.mock.lastCall?.[1]).toMatchObject({ after: 7 });
});

test("a retry asks again whether the same person is signed in", async () => {
  const checkSession = vi.fn(async () => true).mockResolvedValueOnce(false);
  const { hub, live, watchEvents } = await openTab({ checkSession });
  hub.removeTabs();
  await vi.waitFor(() => expect(live.status().state).toBe("not live"));
  live.retry();
  await vi.waitFor(() => expect(watchEvents).toHaveBeenCalledTimes(2));
});

test("a tab that has waited for the person does not trust an earlier check", async () => {
  const checkSession = vi.fn(async () => true);
  const { live, watchEvents } = await openWaitingTab({ checkSession });
  checkSession.mockResolvedValue(false);
  live.retry();
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "not_sent" });
  expect(watchEvents).toHaveBeenCalledTimes(2);
});

test("a run that is opened does not connect a tab that waits for the person", async () => {
  const checkSession = vi.fn(async () => true);
  const { live } = await openWaitingTab({ checkSession });
  const states: RunStreamState[] = [];
  live.watchRun("run_1", { after: 0, handle: () => {}, setState: (state) => states.push(state) });
  expect(states).toEqual(["failed"]);
  // The session was checked once for each removal. A third check would have connected the tab.
  expect(checkSession).toHaveBeenCalledTimes(2);
});

test("a run that is started while the check of the session fails is not started", async () => {
  const { hub, live, startAndWatch } = await openTab({
    checkSession: () => Promise.reject(new Error("The check failed.")),
  });
  hub.removeTabs();
  await vi.waitFor(() => expect(live.status().state).toBe("not live"));
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "not_sent" });
  expect(startAndWatch).not.toHaveBeenCalled();
});

test("a run is not started once the page has said that the start got no response", async () => {
  const check = Promise.withResolvers<boolean>();
  const { hub, live, startAndWatch, watchEvents } = await openTab({
    checkSession: () => check.promise,
  });
  hub.removeTabs();
  await vi.waitFor(() => expect(live.status().state).toBe("not live"));
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const started = expect(live.startRun(run)).rejects.toMatchObject({ code: "no_answer" });
  await vi.advanceTimersByTimeAsync(60_000);
  await started;
  vi.useRealTimers();
  check.resolve(true);
  await vi.waitFor(() => expect(watchEvents).toHaveBeenCalledTimes(2));
  expect(startAndWatch).not.toHaveBeenCalled();
});

test("a start gets its whole time after a slow check of the session", async () => {
  const check = Promise.withResolvers<boolean>();
  const { hub, live, startAndWatch } = await openTab({ checkSession: () => check.promise });
  startAndWatch.mockReturnValue(Promise.withResolvers<never>().promise);
  hub.removeTabs();
  await vi.waitFor(() => expect(live.status().state).toBe("not live"));
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const failed = vi.fn();
  live.startRun(run).catch(failed);
  await vi.advanceTimersByTimeAsync(40_000);
  check.resolve(true);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(startAndWatch).toHaveBeenCalledOnce();
  expect(failed).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: "no_answer" }));
});

const event: HubMessage = {
  type: "event",
  event: { type: "run.started", cursor: "b" } as WorkspaceEvent,
};
const runEvent: HubMessage = {
  type: "run event",
  runId: "run_1",
  event: { type: "run.step", seq: 1 } as SentEvent,
};
test.each<[string, readonly HubMessage[]]>([
  ["the workspace's stream has a gap", [runEvent, { type: "gap" }]],
  ["the tab falls behind the workspace's stream", [...Array(5_001).fill(event), runEvent]],
])("events of a run that wait for a frame are dropped if %s", async (_, messages) => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal("requestAnimationFrame", (flush: () => void) => frames.push(flush));
  const { live, send, onReset } = await openTab();
  const handle = vi.fn();
  live.watchRun("run_1", { after: 0, handle, setState: () => {} });
  for (const message of messages) send(message);
  for (const flush of frames) flush();
  expect(onReset).toHaveBeenCalledOnce();
  expect(handle).not.toHaveBeenCalled();
});

test("a run is started only once the hub has accepted the tab", async () => {
  const sent: unknown[] = [];
  let receive = (_: HubMessage) => {};
  const live = createLive({
    workspaceId: "wsp_1",
    userId: "usr_ada",
    connect: (_, handle) => {
      receive = handle;
      return { send: (message) => void sent.push(message), rejoin() {}, close() {} };
    },
    onOpened() {},
    onLiveAgain() {},
    onReset() {},
    checkSession: async () => true,
  });
  live.connect();
  const started = live.startRun(run);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  // The hub of a page that has replaced its SharedWorker, to which the tab had connected first.
  receive({ type: "joined" });
  expect(sent).toEqual([{ type: "start run", startId: expect.any(Number), ...run }]);
  const [{ startId }] = sent as [{ startId: number }];
  receive({ type: "run started", startId, runId: "run_1" });
  expect(await started).toBe("run_1");
});

test("a start that is rejected with 401 makes the page check its session", async () => {
  const checkSession = vi.fn(async () => true);
  const { live, startAndWatch } = await openTab({ checkSession });
  const unauthorized = new BeckonError({ code: "unauthorized", message: "Expired.", status: 401 });
  startAndWatch.mockRejectedValueOnce(unauthorized);
  await expect(live.startRun(run)).rejects.toMatchObject({ code: "unauthorized" });
  expect(checkSession).toHaveBeenCalledOnce();
});
