import type { BeckonClient } from "@beckon/client";
import { expandMerged } from "./expand-merged.ts";
import type { HubMessage, SentError, Tab, TabMessage } from "./protocol.ts";
import { createRunStreams } from "./run-streams.ts";
import { type Connection, type LiveStatus, statusOf } from "./status.ts";
import type { OpenStream, StreamBudget } from "./stream-budget.ts";
import { streamQuery } from "./stream-query.ts";

/** The dependencies of the hub. Tests pass a fake clock and a fake client. */
export interface HubOptions {
  readonly client: Pick<BeckonClient, "agents" | "events" | "runs">;
  /** Limits the streams of this hub and of the hubs of other workspaces. */
  readonly budget: StreamBudget;
  /** Returns the Unix time in ms. */
  readonly now: () => number;
  /** Called after the last tab has left. Default: nothing happens. */
  readonly onEmpty?: () => void;
}

/**
 * Time in ms after which a stream that has ended is opened again. Streams end after five minutes
 * without a connection, or if the server rejects them.
 */
const retryAfterMs = 30_000;

/**
 * After this time in ms without a byte, for example while the computer slept or the tab was hidden,
 * the stream is not resumed after the last event. The tabs then read their data again: this is
 * faster than all events since then, which would look as if they happened now.
 */
const maxResumeMs = 300_000;

/**
 * Time in ms after which the status is sent again although it has not changed. Tabs notice by its
 * absence that the SharedWorker has died (see silence.ts).
 */
const maxBetweenStatusesMs = 20_000;

/** The reason to show if other streams use all connections (see stream-budget.ts). */
const noCapacityText =
  "Other tabs use the few connections of the browser. Close some, retry, or reload this page.";

/** The error for a tab that asks to start a run after the hub has removed the tab. */
const notSent: SentError = {
  code: "not_sent",
  message: "The run was not started, because this page was reconnecting. Start it again.",
  status: undefined,
  runId: undefined,
  retryAfter: undefined,
};

/**
 * Holds the streams of one workspace for all tabs: the stream of the workspace's events, and those
 * of runs. It stores no events: tabs read their data with requests of their own.
 */
export interface Hub {
  receive(tab: Tab, message: TabMessage): void;
  /**
   * Sends the status to all tabs if it has changed, and every 20 seconds. If the stream of the
   * workspace's events ended some time ago, opens it again. If this would close another stream, the
   * status says so instead. Call `tick` every second, because the status also changes when the
   * server sends nothing.
   */
  tick(): void;
  /**
   * Removes all tabs, ends all streams, and aborts the starts of runs that have no response yet.
   * Call it when the session has ended, or when another person has signed in.
   */
  removeTabs(): void;
  /** Returns whether the start of a run has no response yet. */
  isStarting(): boolean;
}

export function createHub({ client, budget, now, onEmpty }: HubOptions): Hub {
  const tabs = new Set<Tab>();
  let userId: string | undefined;
  let cursor: string | undefined;
  /** Unix time in ms of the last byte of any stream of the workspace; undefined before the first. */
  let readAt: number | undefined;
  /** Whether the tabs must read their data again when the new stream is open. */
  let mustReset = false;
  let connection: Connection = { openedAt: now(), lastByteAt: undefined };
  let sentStatus: LiveStatus | undefined;
  let statusSentAt = 0;
  let stream: OpenStream | undefined;
  /**
   * Unix time in ms from which the stream is opened again if there is capacity; undefined if it is
   * open.
   */
  let retryAt: number | undefined;
  const runs = createRunStreams({
    client,
    budget: {
      // Marks the workspace's stream as used, so that the new stream of a run does not replace it.
      // The tab that shows the run also needs the events of the workspace.
      use: (opened) => {
        markUsed();
        budget.use(opened);
      },
    },
    now,
    onUnauthorized: () => removeTabs(),
  });

  /** A `retryAt` that is further away than `retryAfterMs` means that the clock was set back. */
  const isRetryDue = () => {
    if (retryAt === undefined) return false;
    const remainingMs = retryAt - now();
    return remainingMs <= 0 || remainingMs > retryAfterMs;
  };
  const sendAll = (message: HubMessage) => {
    for (const tab of tabs) tab.send(message);
  };
  const tick = () => {
    if (isRetryDue()) {
      if (budget.hasCapacity()) return open();
      connection = { ...connection, ended: { reason: noCapacityText } };
    }
    const status = statusOf(connection, now());
    // Tabs use `asOf` only while the stream is not live. While it is live, a change of `asOf` alone
    // is not sent.
    const isSame =
      sentStatus?.state === status.state &&
      sentStatus.reason === status.reason &&
      (status.state === "live" || sentStatus.asOf === status.asOf);
    // The time is negative if the clock was set back.
    const sinceSentMs = now() - statusSentAt;
    if (isSame && sinceSentMs >= 0 && sinceSentMs < maxBetweenStatusesMs) return;
    sentStatus = status;
    statusSentAt = now();
    sendAll({ type: "status", status });
  };

  const close = () => {
    stream?.controller.abort();
    stream = undefined;
    retryAt = undefined;
  };
  const removeTabs = (except?: Tab) => {
    close();
    runs.closeAll();
    for (const tab of tabs) if (tab !== except) tab.send({ type: "removed" });
    tabs.clear();
    userId = undefined;
    cursor = undefined;
    mustReset = false;
  };

  const isTooOld = () =>
    cursor !== undefined && readAt !== undefined && now() - readAt > maxResumeMs;
  const open = () => {
    stream?.controller.abort();
    if (isTooOld()) {
      cursor = undefined;
      mustReset = true;
    }
    const current: OpenStream = {
      isOfRun: false,
      controller: new AbortController(),
      onReplaced: waitForCapacity,
    };
    stream = current;
    retryAt = undefined;
    connection = { openedAt: now(), lastByteAt: connection.lastByteAt };
    budget.use(current);
    void forwardEvents(current.controller.signal).then(
      () => onEnded(current, "The stream has ended."),
      (thrown: unknown) => onEnded(current, messageOf(thrown), thrown),
    );
    tick();
  };
  const onEnded = ({ controller }: OpenStream, reason: string, thrown?: unknown) => {
    if (controller.signal.aborted) return;
    if ((thrown as { code?: unknown } | undefined)?.code === "unauthorized") return removeTabs();
    // Makes `budget`, which listens for the abort, stop counting the stream.
    controller.abort();
    retryAt = now() + retryAfterMs;
    setEnded(reason);
  };
  const waitForCapacity = () => {
    retryAt = now();
    setEnded(noCapacityText);
  };
  const setEnded = (reason: string) => {
    connection = { ...connection, ended: { reason } };
    tick();
  };
  const forwardEvents = async (signal: AbortSignal) => {
    const onActivity = () => {
      if (signal.aborted) return;
      // The client connects again by itself, and then resumes after the last event.
      if (isTooOld()) return open();
      readAt = now();
      // If the clock was set back, the stream seems to have been opened after this byte.
      const openedAt = Math.min(connection.openedAt, readAt);
      connection = { ...connection, openedAt, lastByteAt: readAt, isLost: false };
      tick();
    };
    const onDisconnect = () => {
      if (signal.aborted) return;
      connection = { ...connection, isLost: true };
      tick();
    };
    for await (const event of client.events.watch(
      { ...streamQuery, ...(cursor === undefined ? {} : { after: cursor }) },
      { signal, onActivity, onDisconnect },
    )) {
      if (signal.aborted) return;
      if ("cursor" in event) cursor = event.cursor;
      // What changes while the tabs read their data is in the stream, because it is open now.
      if (mustReset && event.type === "stream.opened") {
        mustReset = false;
        sendAll({ type: "gap" });
        continue;
      }
      for (const each of expandMerged(event)) sendAll({ type: "event", event: each });
    }
  };

  const markUsed = () => {
    if (stream !== undefined && connection.ended === undefined) budget.use(stream);
  };
  const wake = () => {
    // A connection can be lost without being closed, for example while the computer slept. The
    // client notices that late.
    const { state } = statusOf(connection, now());
    if (state === "live" || state === "connecting") markUsed();
    else open();
    runs.reopenSilent();
  };
  const retry = () => {
    open();
    runs.reopenSilent();
  };
  const leave = (tab: Tab) => {
    tabs.delete(tab);
    runs.leave(tab);
    if (tabs.size > 0) return;
    close();
    onEmpty?.();
  };

  return {
    tick,
    removeTabs: () => removeTabs(),
    isStarting: runs.isStarting,
    receive(tab, message) {
      if (message.type === "hello") {
        if (userId !== undefined && userId !== message.userId) removeTabs(tab);
        userId = message.userId;
        tabs.add(tab);
        if (stream === undefined) {
          connection = { openedAt: now(), lastByteAt: undefined };
          sentStatus = undefined;
          if (message.isHidden && !budget.hasCapacity()) waitForCapacity();
          else open();
        } else {
          if (!message.isHidden) wake();
          tab.send({ type: "status", status: statusOf(connection, now()) });
        }
        tab.send({ type: "joined" });
        return;
      }
      if (!tabs.has(tab)) {
        // The tab can have started the run before it was notified that it was removed.
        if (message.type === "start run")
          tab.send({ type: "run not started", startId: message.startId, error: notSent });
        return;
      }
      if (message.type === "bye") leave(tab);
      else if (message.type === "retry") retry();
      else if (message.type === "wake") wake();
      else if (message.type === "start run") void runs.start(tab, message);
      else if (message.type === "watch run") runs.watch(tab, message.runId, message.after);
      else runs.unwatch(tab, message.runId);
    },
  };
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "The stream has ended.";
}
