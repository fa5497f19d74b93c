import type { BeckonClient } from "@beckon/client";
import type { RunStreamState, Tab } from "./protocol.ts";

interface RunStream {
  /** Each reader with the `seq` of the last event that it has. */
  readonly readers: Map<Tab, number>;
  readonly stop: AbortController;
  state: RunStreamState;
}

/** HTTP/1.1 allows a browser six connections to a server. */
const maxStreams = 3;

/** Streams of single runs, each shared by the tabs that show the run. */
export interface RunStreams {
  watch(tab: Tab, runId: string, after: number): void;
  unwatch(tab: Tab, runId: string): void;
  leave(tab: Tab): void;
  stopAll(): void;
}

export function createRunStreams({
  client,
  onUnauthorized,
}: {
  readonly client: Pick<BeckonClient, "runs">;
  readonly onUnauthorized: () => void;
}): RunStreams {
  /** In the order of their start: the first one is replaced when there are too many. */
  const streams = new Map<string, RunStream>();

  const setState = (runId: string, stream: RunStream, state: RunStreamState) => {
    stream.state = state;
    for (const tab of stream.readers.keys()) tab.send({ type: "run state", runId, state });
  };
  const close = (runId: string, stream: RunStream) => {
    stream.stop.abort();
    if (streams.get(runId) === stream) streams.delete(runId);
  };

  const follow = async (runId: string, stream: RunStream) => {
    const { signal } = stream.stop;
    const after = Math.min(...stream.readers.values());
    const onActivity = () => {
      if (!signal.aborted && stream.state !== "live") setState(runId, stream, "live");
    };
    const onDisconnect = () => {
      if (!signal.aborted) setState(runId, stream, "connecting");
    };
    const options = { after, signal, onActivity, onDisconnect };
    try {
      for await (const event of client.runs.watch(runId, options)) {
        if (signal.aborted) return;
        for (const [tab, seen] of stream.readers) {
          // A reader that came with later events does not get the earlier ones again.
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

  const unwatch = (tab: Tab, runId: string) => {
    const stream = streams.get(runId);
    if (stream?.readers.delete(tab) && stream.readers.size === 0) close(runId, stream);
  };

  return {
    watch(tab, runId, after) {
      const known = streams.get(runId);
      // Output is sent only once: a new connection would end that of the current model call for the
      // other readers. It is opened only if the new reader lacks entries that were sent already.
      if (known !== undefined && after >= Math.max(...known.readers.values())) {
        known.readers.set(tab, after);
        tab.send({ type: "run state", runId, state: known.state });
        return;
      }
      const readers = new Map(known?.readers).set(tab, after);
      if (known !== undefined) close(runId, known);
      const stream: RunStream = { readers, stop: new AbortController(), state: "connecting" };
      streams.set(runId, stream);
      for (const [oldest, replaced] of [...streams].slice(0, -maxStreams)) {
        close(oldest, replaced);
        setState(oldest, replaced, "replaced");
      }
      void follow(runId, stream);
    },
    unwatch,
    leave(tab) {
      for (const runId of [...streams.keys()]) unwatch(tab, runId);
    },
    stopAll() {
      for (const [runId, stream] of [...streams]) close(runId, stream);
    },
  };
}
