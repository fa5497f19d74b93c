import { BeckonError, type StreamNotice, type WorkspaceEvent } from "@beckon/client";
import { beforeNextFrame, createBatches, createSlowSchedule } from "./batches.ts";
import type { connectHub, HubConnection } from "./connect.ts";
import type { HubMessage, RunStart, RunStreamState, SentEvent } from "./protocol.ts";
import type { LiveStatus } from "./status.ts";

/** Receives events in order, at most one batch every 300 ms. */
export type EventsHandler = (events: readonly WorkspaceEvent[]) => void;

/** Receives the events of one run in order, at most one batch per frame. */
export interface RunReader {
  /** `seq` of the last journal entry that the reader has. Grows with the events. */
  after: number;
  readonly handle: (events: readonly SentEvent[]) => void;
  readonly setState: (state: RunStreamState) => void;
}

/**
 * Time in ms after which a start fails if the hub has not responded, probably because it has
 * crashed. It is longer than the time after which the hub itself gives up (run-streams.ts), so that
 * no run starts after the tab has shown the failure.
 */
const maxStartMs = 60_000;
let lastStartId = 0;

/** Live updates of one workspace, for one tab. */
export interface Live {
  /**
   * Connects the tab. Call it after all screens have registered their handlers, because handlers do
   * not get events that arrived before.
   */
  connect(): void;
  readonly status: () => LiveStatus;
  /**
   * Calls the function after each change of the status. Returns the function that unsubscribes it.
   */
  onStatus(changed: () => void): () => void;
  onEvents(handler: EventsHandler): () => void;
  watchRun(runId: string, reader: RunReader): () => void;
  /**
   * Starts a run and returns its id. The events of the run wait until `watchRun` is called.
   * @throws BeckonError if the start failed, or its response was lost
   */
  startRun(run: Omit<RunStart, "startId">): Promise<string>;
  retry(): void;
  close(): void;
}

/**
 * Creates the live updates of a workspace for a tab, without connecting it.
 * @param connect opens the connection to the hub, as `connectHub` does
 * @param onOpened called when the stream is open for this tab. Data that was read before may lack
 *   changes, so it must be refetched.
 * @param onLiveAgain called when the stream is live again after an interruption. It resumes after
 *   the last event, so no data is missing, but reads that failed meanwhile must be repeated.
 * @param onReset called if all data must be refetched: with the server's reason, for example a
 *   restore of the database, or with undefined if only events are missing
 * @param checkSession returns whether the same person is known to be signed in. If not, the tab
 *   does not connect again. Called when the hub has removed this tab, because the session may have
 *   ended or the SharedWorker has died, and before each later attempt to connect again.
 */
export function createLive({
  workspaceId,
  userId,
  connect,
  onOpened,
  onLiveAgain,
  onReset,
  checkSession,
}: {
  readonly workspaceId: string;
  readonly userId: string;
  readonly connect: typeof connectHub;
  readonly onOpened: () => void;
  readonly onLiveAgain: () => void;
  readonly onReset: (reason?: string) => void;
  readonly checkSession: () => Promise<boolean>;
}): Live {
  let status: LiveStatus = { state: "connecting", asOf: undefined };
  /** Whether the hub has accepted this tab. */
  let hasJoined = false;
  /** Whether the hub has removed this tab. */
  let isRemoved = false;
  /**
   * Whether the tab connects again by itself after the hub has removed it. False from such an
   * attempt until the stream is live. If the hub removes the tab again before that, the tab waits
   * until the person retries or starts a run. Otherwise it could connect again and again.
   */
  let canRejoin = true;
  /** Whether events are missing, because the hub had removed this tab. */
  let hasGap = false;
  const statusListeners = new Set<() => void>();
  const setStatus = (next: LiveStatus) => {
    status = next;
    for (const changed of statusListeners) changed();
  };
  const handlers = new Set<EventsHandler>();
  const readers = new Map<string, Set<RunReader>>();
  const starts = new Map<number, PromiseWithResolvers<string>>();
  /**
   * Functions that send the starts which wait until the hub has accepted this tab. If they were
   * sent before, they would be lost with a SharedWorker that the page replaces (see connect.ts).
   */
  const waitingStarts = new Set<() => void>();

  const fellBehind = () => reset();
  const events = createBatches<WorkspaceEvent>(
    createSlowSchedule(),
    (batch) => {
      for (const handler of handlers) handler(batch);
    },
    fellBehind,
  );
  const runEvents = createBatches<{ runId: string; event: SentEvent }>(
    beforeNextFrame,
    (batch) => {
      for (const [runId, ofRun] of Map.groupBy(batch, (item) => item.runId))
        for (const reader of readers.get(runId) ?? [])
          read(
            reader,
            ofRun.map(({ event }) => event),
          );
    },
    fellBehind,
  );

  const opened = () => {
    if (!hasGap) return onOpened();
    hasGap = false;
    reset();
  };

  const reset = (reason?: string) => {
    // Drops the events that still wait for a frame. They are from before the reset, after which all
    // data is read again.
    events.clear();
    runEvents.clear();
    onReset(reason);
  };

  const receive = (message: HubMessage) => {
    switch (message.type) {
      case "joined":
        hasJoined = true;
        for (const send of waitingStarts) send();
        waitingStarts.clear();
        for (const [runId] of readers) watch(runId);
        // If another tab has opened the stream already, the hub does not announce its opening
        // again. So the tab does here what it does when a stream opens.
        if (status.state === "live") opened();
        break;
      case "status": {
        const before = status.state;
        setStatus(message.status);
        if (status.state !== "live") break;
        canRejoin = true;
        if (before !== "live" && before !== "connecting") onLiveAgain();
        break;
      }
      case "event":
        if (!isNotice(message.event)) events.add(message.event);
        else if (message.event.type === "stream.opened") opened();
        else reset(message.event.data.message);
        break;
      case "gap":
        reset();
        break;
      case "run started":
        starts.get(message.startId)?.resolve(message.runId);
        break;
      case "run not started":
        starts.get(message.startId)?.reject(new BeckonError(message.error));
        if (message.error.code === "unauthorized") void checkSession().catch(() => {});
        break;
      case "run event":
        runEvents.add(message);
        break;
      case "run state":
        for (const { setState } of readers.get(message.runId) ?? []) setState(message.state);
        break;
      case "removed":
        events.clear();
        runEvents.clear();
        hasJoined = false;
        isRemoved = true;
        hasGap = true;
        setStatus({ ...status, state: "not live" });
        for (const ofRun of readers.values()) for (const { setState } of ofRun) setState("failed");
        // The page can stay open. The person may have a new session, or may only have been removed
        // from this workspace. In the second case, the server rejects the new stream, and the
        // status shows why.
        if (canRejoin) void rejoin();
        // Even if the tab stays removed, the page must notice that the session has ended.
        else void checkSession().catch(() => {});
    }
  };
  let hub: HubConnection | undefined;
  /** Connects the tab again if the hub has removed it and the same person is still signed in. */
  const rejoin = async () => {
    if (!isRemoved) return;
    const isSignedIn = await checkSession().catch(() => false);
    // Another call can have connected the tab in the meantime, or it was closed.
    if (!isSignedIn || !isRemoved) return;
    isRemoved = false;
    canRejoin = false;
    hub?.rejoin();
  };
  const watch = (runId: string) => {
    const after = Math.min(...[...(readers.get(runId) ?? [])].map((reader) => reader.after));
    // Before `connect`, nothing is sent. The runs in `readers` are requested when the tab has
    // joined.
    hub?.send({ type: "watch run", runId, after });
  };

  return {
    connect() {
      hub ??= connect({ workspaceId, userId }, receive);
    },
    status: () => status,
    onStatus: (changed) => addTo(statusListeners, changed),
    onEvents: (handler) => addTo(handlers, handler),
    watchRun(runId, reader) {
      const ofRun = readers.get(runId) ?? new Set();
      readers.set(runId, ofRun.add(reader));
      if (isRemoved) {
        // After `rejoin`, the hub responds with `joined`, and the tab then requests all runs.
        reader.setState("failed");
        if (canRejoin) void rejoin();
      } else watch(runId);
      return () => {
        ofRun.delete(reader);
        if (ofRun.size > 0) return;
        readers.delete(runId);
        hub?.send({ type: "unwatch run", runId });
      };
    },
    async startRun(run) {
      lastStartId += 1;
      const startId = lastStartId;
      const start = Promise.withResolvers<string>();
      const wait = () => setTimeout(() => start.reject(noAnswer()), maxStartMs);
      let timer = wait();
      starts.set(startId, start);
      const send = () => {
        // Restarts the timer: what the start has waited for must not shorten the time of the hub.
        clearTimeout(timer);
        timer = wait();
        hub?.send({ type: "start run", startId, ...run });
      };
      // If the tab stays removed, the hub rejects the start. A start that has failed already,
      // because the check of the session took too long, is not sent: the person may have started
      // another.
      void rejoin().then(() => {
        if (!starts.has(startId)) return;
        if (hasJoined || isRemoved) send();
        else waitingStarts.add(send);
      });
      return start.promise.finally(() => {
        clearTimeout(timer);
        starts.delete(startId);
        waitingStarts.delete(send);
      });
    },
    retry() {
      if (isRemoved) void rejoin();
      else hub?.send({ type: "retry" });
    },
    close() {
      events.clear();
      runEvents.clear();
      isRemoved = false;
      hub?.close();
    },
  };
}

function noAnswer(): BeckonError {
  return new BeckonError({ code: "no_answer", message: "The start of the run got no response." });
}

/** Calls the reader with the events that it does not have yet. */
function read(reader: RunReader, events: readonly SentEvent[]): void {
  const fresh = events.filter((event) => !("seq" in event) || event.seq > reader.after);
  for (const event of fresh) if ("seq" in event) reader.after = event.seq;
  if (fresh.length > 0) reader.handle(fresh);
}

function isNotice(event: WorkspaceEvent | StreamNotice): event is StreamNotice {
  return event.type === "stream.opened" || event.type === "stream.reset";
}

/** Adds the item. Returns the function that removes it. */
function addTo<Item>(set: Set<Item>, item: Item): () => void {
  set.add(item);
  return () => {
    set.delete(item);
  };
}
