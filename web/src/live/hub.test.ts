// This file is long because all its tests share the fake client and the functions of a tab.
import { BeckonError, createClient, type StreamNotice, type WorkspaceEvent } from "@beckon/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHub, type HubOptions } from "./hub.ts";
import type { HubMessage, Tab, TabMessage } from "./protocol.ts";
import { createStreamBudget } from "./stream-budget.ts";

/** A stream of the fake client. The test sends its events. */
interface Scripted {
  readonly query: { readonly after?: string | number };
  readonly signal: AbortSignal;
  readonly onActivity: () => void;
  readonly onDisconnect: () => void;
  readonly send: (event: unknown) => void;
  readonly fail: (thrown: unknown) => void;
}

function scripted(query: Scripted["query"], options: object, streams: Scripted[]) {
  const { signal, onActivity, onDisconnect } = options as Scripted;
  const waiting: PromiseWithResolvers<unknown>[] = [Promise.withResolvers()];
  streams.push({
    query,
    signal,
    onActivity,
    onDisconnect,
    send: (event) => {
      waiting.at(-1)?.resolve(event);
      waiting.push(Promise.withResolvers());
    },
    fail: (thrown) => waiting.at(-1)?.reject(thrown),
  });
  return (async function* () {
    for (;;) {
      const next = waiting[0];
      if (next === undefined) return;
      yield await next.promise;
      waiting.shift();
    }
  })();
}

/**
 * Starts a hub with a fake client and a fake clock.
 * @param budget limits the open streams of all hubs that share it. Default: it is not shared.
 */
function startHub(budget = createStreamBudget()) {
  const events: Scripted[] = [];
  const runs: (Scripted & { readonly runId: string })[] = [];
  const starts: (Scripted & { readonly begun: PromiseWithResolvers<void> })[] = [];
  let now = 1_000_000;
  const client = {
    agents: {
      startAndWatch: async (_agentId: string, _body: object, options: object) => {
        const opened: Scripted[] = [];
        const stream = scripted({}, options, opened);
        const begun = Promise.withResolvers<void>();
        for (const each of opened) starts.push({ ...each, begun });
        await begun.promise;
        return { run_id: "run_9", events: stream };
      },
    },
    events: { watch: (query: object, options: object) => scripted(query, options, events) },
    runs: {
      watch: (runId: string, options: object) => {
        const opened: Scripted[] = [];
        const stream = scripted(options as Scripted["query"], options, opened);
        for (const each of opened) runs.push({ ...each, runId });
        return stream;
      },
    },
  } as unknown as HubOptions["client"];
  const onEmpty = vi.fn();
  const hub = createHub({ client, budget, now: () => now, onEmpty });
  const open = (userId = "usr_ada", { isHidden = false } = {}) => {
    const received: HubMessage[] = [];
    const tab: Tab = { send: (message) => received.push(message) };
    const say = (message: TabMessage) => hub.receive(tab, message);
    say({ type: "hello", workspaceId: "wsp_1", userId, isHidden });
    const of = <Type extends HubMessage["type"]>(type: Type) =>
      received.filter(
        (message): message is Extract<HubMessage, { type: Type }> => message.type === type,
      );
    return { say, of, state: () => of("status").at(-1)?.status.state };
  };
  const pass = (ms: number) => {
    now += ms;
    hub.tick();
  };
  return { hub, open, events, runs, starts, pass, onEmpty };
}

const event = (cursor: string) => ({ type: "run.started", cursor }) as WorkspaceEvent;
const opened = (cursor: string) => ({ type: "stream.opened", cursor, data: {} }) as StreamNotice;
const step = (seq: number) => ({ type: "run.step", seq });
const unauthorized = new BeckonError({ code: "unauthorized", message: "No.", status: 401 });

test("all tabs share one stream, and each gets every event", async () => {
  const { open, events } = startHub();
  const [first, second] = [open(), open()];
  events[0]?.send(event("a"));
  await vi.waitFor(() => expect(second.of("event")).toHaveLength(1));
  expect([events.length, first.of("event")]).toEqual([1, second.of("event")]);
});

test("the end of a run that has replaced its start reaches the tabs as start and end", async () => {
  const { open, events } = startHub();
  const tab = open();
  const merged = { seq: 1, type: "run.started", time: "2026-01-31T09:30:00.000Z" };
  events[0]?.send({ ...event("a"), seq: 3, type: "run.finished", merged });
  await vi.waitFor(() => expect(tab.of("event")).toHaveLength(2));
  expect(tab.of("event").map(({ event }) => event.type)).toEqual(["run.started", "run.finished"]);
  tab.say({ type: "retry" });
  await vi.waitFor(() => expect(events[1]?.query).toMatchObject({ after: "a", merge: "true" }));
});

test("a status that does not change is sent again every 20 seconds", () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.onActivity();
  const sent = tab.of("status").length;
  pass(19_999);
  expect(tab.of("status")).toHaveLength(sent);
  events[0]?.onActivity();
  pass(1);
  expect(tab.of("status")).toHaveLength(sent + 1);
});

test("after the clock was set back, the status is live and still sent every 20 seconds", () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.onActivity();
  pass(-3_600_000);
  events[0]?.onActivity();
  expect(tab.state()).toBe("live");
  const sent = tab.of("status").length;
  pass(19_999);
  expect(tab.of("status")).toHaveLength(sent);
  events[0]?.onActivity();
  pass(1);
  expect(tab.of("status")).toHaveLength(sent + 1);
});

test("after the clock was set back, a stream that has ended is still opened again", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.fail(away);
  await vi.waitFor(() => expect(tab.state()).toBe("not live"));
  pass(-3_600_000);
  expect(events).toHaveLength(2);
});

test("the stream ends with the last tab, and resumes after the last event", async () => {
  const { open, events } = startHub();
  const [first, second] = [open(), open()];
  events[0]?.send(opened("a"));
  events[0]?.send(event("b"));
  await vi.waitFor(() => expect(first.of("event")).toHaveLength(2));
  first.say({ type: "bye" });
  expect(events[0]?.signal.aborted).toBe(false);
  second.say({ type: "bye" });
  expect(events[0]?.signal.aborted).toBe(true);
  open();
  expect(events.map(({ query }) => query.after)).toEqual([undefined, "b"]);
});

test("tabs see the status change with the silence of the stream", () => {
  const { open, events, pass } = startHub();
  const tab = open();
  expect(tab.state()).toBe("connecting");
  events[0]?.onActivity();
  expect(tab.state()).toBe("live");
  pass(20_000);
  expect(tab.state()).toBe("reconnecting");
  pass(25_000);
  expect(tab.state()).toBe("not live");
  events[0]?.onActivity();
  expect(tab.state()).toBe("live");
});

test("a closed connection shows at once, until the stream is connected again", () => {
  const { open, events, runs } = startHub();
  const tab = open();
  tab.say({ type: "watch run", runId: "run_1", after: 0 });
  events[0]?.onActivity();
  runs[0]?.onActivity();
  events[0]?.onDisconnect();
  runs[0]?.onDisconnect();
  expect(tab.state()).toBe("reconnecting");
  expect(tab.of("run state").map(({ state }) => state)).toEqual(["live", "connecting"]);
  events[0]?.onActivity();
  runs[0]?.onActivity();
  expect(tab.state()).toBe("live");
  expect(tab.of("run state").at(-1)?.state).toBe("live");
});

test("a rejected stream is not live, and Retry opens it again", async () => {
  const { open, events } = startHub();
  const tab = open();
  events[0]?.fail(new BeckonError({ code: "bad_request", message: "Wrong.", status: 400 }));
  await vi.waitFor(() => expect(tab.state()).toBe("not live"));
  expect(tab.of("status").at(-1)?.status.reason).toBe("Wrong.");
  tab.say({ type: "retry" });
  events[1]?.onActivity();
  expect([events.length, tab.state()]).toEqual([2, "live"]);
});

const away = new BeckonError({ code: "no_answer", message: "No response." });

test("the reason of a stream that has ended is shown, also if it was silent before", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  pass(45_000);
  expect(tab.of("status").at(-1)?.status).toEqual({ state: "not live", asOf: undefined });
  events[0]?.fail(away);
  await vi.waitFor(() => expect(tab.of("status").at(-1)?.status.reason).toBe("No response."));
});

test("after a sleep the tabs read their data again instead of the events that they missed", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.onActivity();
  events[0]?.send(opened("a"));
  await vi.waitFor(() => expect(tab.of("event")).toHaveLength(1));
  pass(300_000);
  events[0]?.onActivity();
  expect(events).toHaveLength(1);
  pass(300_001);
  // The client has connected again by itself, and resumes after the last event.
  events[0]?.onActivity();
  expect([events[0]?.signal.aborted, events[1]?.query.after]).toEqual([true, undefined]);
  events[0]?.send(event("b"));
  events[1]?.onActivity();
  expect(tab.of("event")).toHaveLength(1);
  // What happens while the data is read again is in the new stream, which is open now.
  events[1]?.send(opened("z"));
  await vi.waitFor(() => expect(tab.of("gap")).toHaveLength(1));
  expect(tab.of("event")).toHaveLength(1);
  tab.say({ type: "retry" });
  expect(events[2]?.query.after).toBe("z");
});

test("a tab that was hidden for some minutes reads its data again when it is shown", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.onActivity();
  events[0]?.send(opened("a"));
  await vi.waitFor(() => expect(tab.of("event")).toHaveLength(1));
  const reopen = (afterMs: number) => {
    tab.say({ type: "bye" });
    pass(afterMs);
    tab.say({ type: "hello", workspaceId: "wsp_1", userId: "usr_ada", isHidden: false });
    return events.at(-1)?.query.after;
  };
  expect([reopen(300_000), reopen(1)]).toEqual(["a", undefined]);
  events[2]?.send(opened("z"));
  await vi.waitFor(() => expect(tab.of("gap")).toHaveLength(1));
});

test("after an outage of five minutes a new tab opens the stream again, for all tabs", async () => {
  const { open, events } = startHub();
  const first = open();
  events[0]?.fail(away);
  await vi.waitFor(() => expect(first.state()).toBe("not live"));
  const second = open();
  expect(events).toHaveLength(2);
  events[1]?.onActivity();
  expect([first.state(), second.state()]).toEqual(["live", "live"]);
});

test("an ended stream is opened again when its tab is shown, and by itself later", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  tab.say({ type: "wake" });
  expect(events).toHaveLength(1);
  events[0]?.fail(away);
  await vi.waitFor(() => expect(tab.state()).toBe("not live"));
  tab.say({ type: "wake" });
  expect(events).toHaveLength(2);
  events[1]?.onActivity();
  events[1]?.fail(away);
  await vi.waitFor(() => expect(tab.state()).toBe("not live"));
  pass(29_999);
  expect(events).toHaveLength(2);
  pass(1);
  expect(events).toHaveLength(3);
});

test("a silent stream is opened again, after its last event, when its tab is shown", async () => {
  const { open, events, pass } = startHub();
  const tab = open();
  events[0]?.onActivity();
  tab.say({ type: "wake" });
  expect(events).toHaveLength(1);
  events[0]?.send({ type: "run.started", run_id: "run_1", seq: 1, cursor: "after-it" });
  await vi.waitFor(() => expect(tab.of("event")).toHaveLength(1));
  pass(25_000);
  expect(tab.state()).toBe("reconnecting");
  tab.say({ type: "wake" });
  expect(events.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  expect(events[1]?.query.after).toBe("after-it");
});

test.each(["wake", "retry"] as const)(
  "the silent stream of a run is opened again after what all its readers have, on %s",
  async (type) => {
    const { open, runs, pass } = startHub();
    const [first, second] = [open(), open()];
    first.say({ type: "watch run", runId: "run_1", after: 5 });
    second.say({ type: "watch run", runId: "run_1", after: 5 });
    runs[0]?.onActivity();
    runs[0]?.send(step(6));
    await vi.waitFor(() => expect(second.of("run event")).toHaveLength(1));
    first.say({ type: "watch run", runId: "run_2", after: 0 });
    pass(19_999);
    second.say({ type });
    expect(runs).toHaveLength(2);
    runs[1]?.onActivity();
    pass(1);
    second.say({ type });
    expect(runs.map(({ runId, query, signal }) => [runId, query.after, signal.aborted])).toEqual([
      ["run_1", 5, true],
      ["run_2", 0, false],
      ["run_1", 6, false],
    ]);
    expect(first.of("run state").at(-1)).toMatchObject({ runId: "run_1", state: "connecting" });
    runs[2]?.onActivity();
    expect(second.of("run state").at(-1)).toMatchObject({ runId: "run_1", state: "live" });
    runs[2]?.send(step(7));
    await vi.waitFor(() => expect(first.of("run event")).toHaveLength(2));
  },
);

test("a 401 ends all streams, tells every tab, and drops the position", async () => {
  const { open, events, runs } = startHub();
  const [first, second] = [open(), open()];
  first.say({ type: "watch run", runId: "run_1", after: 0 });
  events[0]?.send(event("a"));
  await vi.waitFor(() => expect(first.of("event")).toHaveLength(1));
  events[0]?.fail(unauthorized);
  await vi.waitFor(() => expect(second.of("removed")).toHaveLength(1));
  expect([first.of("removed").length, runs[0]?.signal.aborted]).toEqual([1, true]);
  open();
  expect(events[1]?.query.after).toBeUndefined();
});

test("a sign-out ends all streams", () => {
  const { hub, open, events } = startHub();
  const tab = open();
  hub.removeTabs();
  expect([events[0]?.signal.aborted, tab.of("removed").length]).toEqual([true, 1]);
});

test("another person gets a stream of their own, and the first one's tabs end", () => {
  const { open, events } = startHub();
  const ada = open("usr_ada");
  const grace = open("usr_grace");
  expect([events.length, events[0]?.signal.aborted]).toEqual([2, true]);
  expect([ada.of("removed").length, grace.of("removed").length]).toEqual([1, 0]);
});

test("there are at most three run streams, and the oldest gives way", () => {
  const { open, runs } = startHub();
  const tab = open();
  for (const runId of ["run_1", "run_2", "run_3", "run_4"])
    tab.say({ type: "watch run", runId, after: 0 });
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false, false, false]);
  expect(tab.of("run state")).toEqual([{ type: "run state", runId: "run_1", state: "replaced" }]);
});

test("all workspaces together have at most four streams, and those of runs give way", () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  const [first, second] = hubs;
  const isOpen = () => hubs.map(({ events }) => events.at(-1)?.signal.aborted === false);
  const tab = first?.open();
  for (const runId of ["run_1", "run_2", "run_3"]) tab?.say({ type: "watch run", runId, after: 0 });
  second?.open();
  expect(first?.runs.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  const [, , third, fourth, fifth] = hubs.map(({ open }, index) =>
    index < 2 ? undefined : open(),
  );
  expect(first?.runs.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  expect(isOpen()).toEqual([false, true, true, true, true]);
  expect([tab?.state(), fifth?.state()]).toEqual(["not live", "connecting"]);

  // The tabs of the third, the fourth and then the first workspace are shown. The first one gets a
  // stream again, and the second, which has been shown the longest ago, loses its stream.
  for (const shown of [third, fourth, tab]) shown?.say({ type: "wake" });
  expect(isOpen()).toEqual([true, false, true, true, true]);
  // The second workspace does not take a stream from another one before its tab is shown again.
  second?.pass(60_000);
  expect(isOpen()).toEqual([true, false, true, true, true]);
});

test("a stream that has ended no longer counts", async () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  const tabs = hubs.slice(0, 4).map(({ open }) => open());
  hubs[3]?.events[0]?.fail(away);
  await vi.waitFor(() => expect(tabs[3]?.state()).toBe("not live"));
  hubs[4]?.open();
  expect(hubs.slice(0, 3).map(({ events }) => events[0]?.signal.aborted)).toEqual([
    false,
    false,
    false,
  ]);
});

test("a run that a tab shows does not close the stream of the tab's own workspace", () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 4 }, () => startHub(budget));
  const [tab] = hubs.map(({ open }) => open());
  tab?.say({ type: "watch run", runId: "run_1", after: 0 });
  expect(hubs.map(({ events }) => events[0]?.signal.aborted)).toEqual([false, true, false, false]);
});

test("a stream that was closed for others opens again by itself when there is capacity", () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  const [first, , , , fifth] = hubs.map(({ open }) => open());
  expect(first?.state()).toBe("not live");
  hubs[0]?.pass(1_000);
  expect(hubs[0]?.events).toHaveLength(1);
  fifth?.say({ type: "bye" });
  hubs[0]?.pass(1_000);
  expect(first?.state()).toBe("connecting");
  expect(hubs[0]?.events).toHaveLength(2);
});

test("a stream that has ended closes no other one when it is opened again by itself", async () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  const [first] = hubs.slice(0, 4).map(({ open }) => open());
  hubs[0]?.events[0]?.fail(away);
  await vi.waitFor(() => expect(first?.state()).toBe("not live"));
  hubs[4]?.open();
  hubs[0]?.pass(60_000);
  const isOpen = () => hubs.map(({ events }) => events.at(-1)?.signal.aborted === false);
  expect(isOpen()).toEqual([false, true, true, true, true]);
});

test("a stream that cannot be opened again for lack of capacity says so", async () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  const [first] = hubs.slice(0, 4).map(({ open }) => open());
  hubs[0]?.events[0]?.fail(away);
  await vi.waitFor(() => expect(first?.state()).toBe("not live"));
  hubs[4]?.open();
  const reason = () => first?.of("status").at(-1)?.status.reason;
  hubs[0]?.pass(29_999);
  expect(reason()).toBe("No response.");
  hubs[0]?.pass(1);
  expect(reason()).toContain("Other tabs use");
});

test("a tab that is opened in the background closes no other stream", () => {
  const budget = createStreamBudget();
  const hubs = Array.from({ length: 5 }, () => startHub(budget));
  for (const { open } of hubs.slice(0, 4)) open();
  const hidden = hubs[4]?.open("usr_ada", { isHidden: true });
  expect(hubs.map(({ events }) => events[0]?.signal.aborted)).toEqual([
    false,
    false,
    false,
    false,
    undefined,
  ]);
  expect([hidden?.state(), hidden?.of("joined").length]).toEqual(["not live", 1]);
  hidden?.say({ type: "wake" });
  expect(hidden?.state()).toBe("connecting");
});

test("a tab that is opened in the background gets a stream while there is capacity", () => {
  const { open, events } = startHub();
  expect(open("usr_ada", { isHidden: true }).state()).toBe("connecting");
  expect(events).toHaveLength(1);
});

test("a tab that has all entries joins the stream of a run, so that no output is cut off", () => {
  const { open, runs } = startHub();
  const [first, second] = [open(), open()];
  first.say({ type: "watch run", runId: "run_1", after: 5 });
  runs[0]?.onActivity();
  second.say({ type: "watch run", runId: "run_1", after: 5 });
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
  expect(second.of("run state")).toEqual([{ type: "run state", runId: "run_1", state: "live" }]);
});

const start = { type: "start run", startId: 1, agentId: "agt_1", input: "Hello" } as const;

test("the events of a run that a tab starts wait until the tab watches it", async () => {
  const { open, runs, starts } = startHub();
  const tab = open();
  tab.say({ ...start, idempotencyKey: "k" });
  starts[0]?.begun.resolve();
  await vi.waitFor(() => expect(tab.of("run started")).toMatchObject([{ runId: "run_9" }]));
  const output = { type: "run.output.start", data: { step: 1, attempt: 1 } };
  for (const event of [step(1), output, step(2)]) starts[0]?.send(event);
  expect(tab.of("run event")).toEqual([]);
  tab.say({ type: "watch run", runId: "run_9", after: 0 });
  await vi.waitFor(() => expect(tab.of("run event")).toHaveLength(3));
  expect(tab.of("run event").map(({ event }) => event)).toEqual([step(1), output, step(2)]);
  expect(runs).toEqual([]);
  tab.say({ type: "unwatch run", runId: "run_9" });
  expect(starts[0]?.signal.aborted).toBe(true);
});

test("a run that was started is not opened again while it waits for its tab", async () => {
  const { open, runs, starts, pass } = startHub();
  const tab = open();
  tab.say({ ...start, idempotencyKey: "k" });
  starts[0]?.begun.resolve();
  await vi.waitFor(() => expect(tab.of("run started")).toHaveLength(1));
  pass(60_000);
  tab.say({ type: "wake" });
  expect([starts[0]?.signal.aborted, runs.length]).toEqual([false, 0]);
  tab.say({ type: "unwatch run", runId: "run_9" });
});

test("a run that is not started says why, and one that nobody watches is let go", async () => {
  vi.useFakeTimers();
  const { open, starts } = startHub();
  const tab = open();
  tab.say({ ...start, idempotencyKey: "k" });
  const error = { code: "agent_paused", message: "This agent is paused.", status: 409 };
  starts[0]?.begun.reject(new BeckonError(error));
  await vi.waitFor(() => expect(tab.of("run not started")).toMatchObject([{ startId: 1, error }]));
  tab.say({ ...start, startId: 2, idempotencyKey: "l" });
  starts[1]?.begun.resolve();
  await vi.waitFor(() => expect(tab.of("run started")).toHaveLength(1));
  expect(starts[1]?.signal.aborted).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(starts[1]?.signal.aborted).toBe(true);
  vi.useRealTimers();
});

test("a run whose tab has left before the response does not keep its stream open", async () => {
  const { open, starts } = startHub();
  const [tab, other] = [open(), open()];
  tab.say({ ...start, idempotencyKey: "k" });
  tab.say({ type: "bye" });
  expect(starts[0]?.signal.aborted).toBe(false);
  starts[0]?.begun.resolve();
  await vi.waitFor(() => expect(tab.of("run started")).toHaveLength(1));
  other.say({ type: "watch run", runId: "run_9", after: 0 });
  other.say({ type: "unwatch run", runId: "run_9" });
  expect(starts[0]?.signal.aborted).toBe(true);
});

test("a hub without tabs is empty, and says whether a start has no response yet", async () => {
  const { open, hub, starts, onEmpty } = startHub();
  const tab = open();
  tab.say({ ...start, idempotencyKey: "k" });
  tab.say({ type: "bye" });
  expect(onEmpty).toHaveBeenCalledOnce();
  expect(hub.isStarting()).toBe(true);
  starts[0]?.begun.resolve();
  await vi.waitFor(() => expect(hub.isStarting()).toBe(false));
});

test("a sign-out ends the starts that have no response yet", async () => {
  const { hub, open, starts } = startHub();
  const tab = open();
  tab.say({ ...start, idempotencyKey: "k" });
  hub.removeTabs();
  expect(starts[0]?.signal.aborted).toBe(true);
  starts[0]?.begun.reject(starts[0].signal.reason);
  await vi.waitFor(() =>
    expect(tab.of("run not started")).toMatchObject([
      {
        startId: 1,
        error: { code: "unauthorized", message: expect.stringContaining("has ended") },
      },
    ]),
  );
});

test("a start without a response is not repeated after its tab has given up", async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const send = vi.fn((_: unknown, init?: RequestInit) => {
    const response = Promise.withResolvers<Response>();
    init?.signal?.addEventListener("abort", () => response.reject(init.signal?.reason));
    return response.promise;
  });
  const client = createClient({ url: "https://beckon.test", fetch: send as typeof fetch });
  const hub = createHub({ client, budget: createStreamBudget(), now: Date.now });
  const received: HubMessage[] = [];
  const tab: Tab = { send: (message) => received.push(message) };
  hub.receive(tab, { type: "hello", workspaceId: "wsp_1", userId: "usr_ada", isHidden: false });
  hub.receive(tab, { ...start, idempotencyKey: "k" });
  const starts = () => send.mock.calls.filter(([, init]) => init?.method === "POST").length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toContainEqual(
    expect.objectContaining({
      type: "run not started",
      error: expect.objectContaining({ code: "timed_out" }),
    }),
  );
  const sent = starts();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(starts()).toBe(sent);
  hub.removeTabs();
});

test("two tabs share the stream of a run, and none gets an entry twice", async () => {
  const { open, runs } = startHub();
  const [first, second] = [open(), open()];
  first.say({ type: "watch run", runId: "run_1", after: 5 });
  second.say({ type: "watch run", runId: "run_1", after: 2 });
  expect(runs.map(({ query, signal }) => [query.after, signal.aborted])).toEqual([
    [5, true],
    [2, false],
  ]);
  for (const seq of [3, 4, 5, 6]) runs[1]?.send(step(seq));
  await vi.waitFor(() => expect(second.of("run event")).toHaveLength(4));
  expect(first.of("run event").map(({ event }) => "seq" in event && event.seq)).toEqual([6]);
  first.say({ type: "unwatch run", runId: "run_1" });
  expect(runs[1]?.signal.aborted).toBe(false);
  second.say({ type: "bye" });
  expect(runs[1]?.signal.aborted).toBe(true);
});
