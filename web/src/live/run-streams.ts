import type { BeckonClient, WatchedEvent } from "@beckon/client";
import type { RunStart, RunStreamState, SentError, SentEvent, Tab } from "./protocol.ts";
import { reconnectingAfterMs } from "./status.ts";
import type { StreamBudget } from "./stream-budget.ts";

interface RunStream {
  /** The `seq` of the last event that each tab has. Tabs that have left are removed. */
  readonly readers: Map<Tab, number>;
  readonly controller: AbortController;
  state: RunStreamState;
  /** Unix time in ms of the last byte; before the first, when the stream was created. */
  readAt: number;
  /**
   * Starts reading the events of a run that a tab has started; undefined once the events are being
   * read.
   */
  begin?: (() => void) | undefined;
}

/**
 * If a tab has started a run and does not watch it within this time, the run's stream is closed.
 */
const maxWaitMs = 10_000;
/**
 * Maximum number of retries of the request that starts a run. If the last retry fails too, the tab
 * shows the error. The waits before the retries add up to at most 3.5 seconds, unless the server
 * sends `Retry-After`.
 */
const retries = 3;
/**
 * Time in ms after which a start without a response fails. It is shorter than the time after which
 * the tab gives up (live.ts), so that no run starts after the tab has shown the failure.
 */
const startTimeoutMs = 50_000;

/** Streams of single runs, each shared by the tabs that show the run. */
export interface RunStreams {
  /**
   * Starts a run. The response to the start is the run's stream, so no output is missed. Its events
   * are read when the tab watches the run.
   */
  start(tab: Tab, run: RunStart): Promise<void>;
  watch(tab: Tab, runId: string, after: number): void;
  unwatch(tab: Tab, runId: string): void;
  leave(tab: Tab): void;
  /**
   * Opens the streams again that have been silent for 20 seconds, after the last event that all
   * their readers have. Call it when connections may have been lost without being closed, for
   * example while the computer slept. The client notices that only after 45 seconds.
   */
  reopenSilent(): void;
  /** Returns whether a start has no response yet. */
  isStarting(): boolean;
  /** Ends all streams and all starts. Call it when the session has ended. */
  closeAll(): void;
}

export function createRunStreams({
  client,
  budget,
  now,
  onUnauthorized,
}: {
  readonly client: Pick<BeckonClient, "agents" | "runs">;
  readonly budget: Pick<StreamBudget, "use">;
  /** Returns the Unix time in ms. */
  readonly now: () => number;
  readonly onUnauthorized: () => void;
}): RunStreams {
  /** The streams by run id. */
  const streams = new Map<string, RunStream>();
  /** The streams of runs whose start has no response yet, so that their run ids are not known. */
  const starting = new Set<RunStream>();

  const setState = (runId: string, stream: RunStream, state: RunStreamState) => {
    stream.state = state;
    for (const tab of stream.readers.keys()) tab.send({ type: "run state", runId, state });
  };
  const close = (runId: string, stream: RunStream) => {
    stream.controller.abort();
    if (streams.get(runId) === stream) streams.delete(runId);
  };

  const create = (readers: RunStream["readers"]): RunStream => ({
    readers,
    controller: new AbortController(),
    state: "connecting",
    readAt: now(),
  });
  const add = (runId: string, stream: RunStream) => {
    streams.set(runId, stream);
    budget.use({
      isOfRun: true,
      controller: stream.controller,
      onReplaced: () => {
        close(runId, stream);
        setState(runId, stream, "replaced");
      },
    });
  };
  /** Returns the options for reading a stream. They keep the `state` of the stream up to date. */
  const optionsOf = (runId: () => string, stream: RunStream) => {
    const { signal } = stream.controller;
    return {
      signal,
      parse: parseEvent,
      onActivity: () => {
        stream.readAt = now();
        if (!signal.aborted && stream.state !== "live") setState(runId(), stream, "live");
      },
      onDisconnect: () => {
        if (!signal.aborted) setState(runId(), stream, "connecting");
      },
    };
  };

  const forwardEvents = async (
    runId: string,
    stream: RunStream,
    events: AsyncIterable<WatchedEvent>,
  ) => {
    const { signal } = stream.controller;
    try {
      for await (const event of events) {
        if (signal.aborted) return;
        for (const [tab, seen] of stream.readers) {
          // A tab that already has later events does not get the earlier ones again.
          if ("seq" in event && event.seq <= seen) continue;
          if ("seq" in event) stream.readers.set(tab, event.seq);
          tab.send({ type: "run event", runId, event });
        }
      }
      if (!signal.aborted) setState(runId, stream, "ended");
    } catch (thrown) {
      if (signal.aborted) return;
      if ((thrown as { code?: unknown }).code === "unauthorized") return onUnauthorized();
      setState(runId, stream, "failed");
    }
    close(runId, stream);
  };

  /** Opens the stream of a run after the last event that all readers have. */
  const open = (runId: string, readers: RunStream["readers"]) => {
    const stream = create(readers);
    add(runId, stream);
    const options = { ...optionsOf(() => runId, stream), after: Math.min(...readers.values()) };
    void forwardEvents(runId, stream, client.runs.watch(runId, options));
  };
  const unwatch = (tab: Tab, runId: string) => {
    const stream = streams.get(runId);
    if (stream?.readers.delete(tab) && stream.readers.size === 0) close(runId, stream);
  };

  return {
    async start(tab, { startId, agentId, input, idempotencyKey }) {
      let runId = "";
      const stream = create(new Map([[tab, 0]]));
      starting.add(stream);
      try {
        const options = { ...optionsOf(() => runId, stream), idempotencyKey, retries };
        const started = await client.agents.startAndWatch(
          agentId,
          { input },
          { ...options, timeout: startTimeoutMs },
        );
        runId = started.run_id;
        // If a tab repeats a start with the same Idempotency-Key, the response is the stream of the
        // run that the first start created. If a tab shows this run already, the known stream of
        // the run is kept, and the new one is closed. It is also closed if the tab has left.
        if (streams.has(runId) || stream.readers.size === 0) stream.controller.abort();
        else {
          stream.begin = () => {
            stream.begin = undefined;
            void forwardEvents(runId, stream, started.events);
          };
          add(runId, stream);
          setTimeout(() => stream.begin && close(runId, stream), maxWaitMs);
        }
        tab.send({ type: "run started", startId, runId });
      } catch (thrown) {
        tab.send({ type: "run not started", startId, error: sentErrorOf(thrown) });
      } finally {
        starting.delete(stream);
      }
    },
    watch(tab, runId, after) {
      const known = streams.get(runId);
      // The server sends output only once. A new connection would interrupt the output of the
      // current model call for the other readers. So a new connection is opened only if the new
      // reader lacks journal entries that were sent already.
      if (known !== undefined && after >= Math.max(...known.readers.values())) {
        known.readers.set(tab, after);
        tab.send({ type: "run state", runId, state: known.state });
        known.begin?.();
        return;
      }
      const readers = new Map(known?.readers).set(tab, after);
      if (known !== undefined) close(runId, known);
      open(runId, readers);
    },
    unwatch,
    leave(tab) {
      for (const runId of [...streams.keys()]) unwatch(tab, runId);
      // The requests that start runs are not aborted: the person has pressed Start, so their runs
      // must start even if the tab was closed.
      for (const { readers } of starting) readers.delete(tab);
    },
    reopenSilent() {
      for (const [runId, stream] of [...streams]) {
        // A stream whose events are not being read yet only seems to be silent.
        if (stream.begin !== undefined || now() - stream.readAt < reconnectingAfterMs) continue;
        close(runId, stream);
        setState(runId, stream, "connecting");
        open(runId, stream.readers);
      }
    },
    isStarting: () => starting.size > 0,
    closeAll() {
      for (const [runId, stream] of [...streams]) close(runId, stream);
      for (const { readers, controller } of starting) {
        readers.clear();
        // Without the abort, a retry could be sent after another person has signed in. It would
        // have their cookie, and start the run in their name.
        controller.abort(sessionEnded());
      }
    },
  };
}

/** Parses an event. Integers outside of ±2^53 have at least 16 digits. */
function parseEvent(json: string): SentEvent {
  const event: SentEvent = JSON.parse(json);
  return /\d{16}/.test(json) ? { ...event, json } : event;
}

/** Returns the error of a start that the end of the session has aborted. */
function sessionEnded(): SentError {
  return {
    code: "unauthorized",
    message: "The session has ended. Sign in, and check whether the run was started.",
    status: undefined,
    runId: undefined,
    retryAfter: undefined,
  };
}

/** Returns the fields that the tab needs to create a BeckonError. */
function sentErrorOf(thrown: unknown): SentError {
  const { code, message, status, runId, retryAfter } = thrown as SentError;
  return { code: code ?? "unexpected", message, status, runId, retryAfter };
}
