/**
 * Maximum number of streams that are open at the same time. A browser opens at most six HTTP/1.1
 * connections to a server, for all its tabs. Two of them remain for API calls, or one if tabs of an
 * earlier build are open: see `maxBesideOthers`.
 */
const maxStreams = 4;
/**
 * The maximum once the SharedWorker of another build has started, which opens up to `maxStreams`
 * itself.
 */
const maxBesideOthers = 1;

/** A stream, which holds a connection until `controller` aborts. */
export interface OpenStream {
  /** Streams of runs are closed before those of workspaces. */
  readonly isOfRun: boolean;
  readonly controller: AbortController;
  /** Called after the stream was closed, because another one needs its connection. */
  readonly onReplaced: () => void;
}

/** Limits the number of streams that are open, over all workspaces. */
export interface StreamBudget {
  /**
   * Counts a stream, or marks a stream that is counted already as the most recently used. If there
   * are too many, another one is closed: the least recently used stream of a run or, if there is
   * none, of a workspace.
   */
  use(stream: OpenStream): void;
  /** Returns whether another stream can be opened without closing one. */
  hasCapacity(): boolean;
  /**
   * Closes all streams but one, in the order of `use`, and lowers the maximum to one. Call it when
   * the SharedWorker of another build has started.
   */
  shrink(): void;
}

export function createStreamBudget(): StreamBudget {
  /** The open streams, the least recently used first. */
  const open = new Set<OpenStream>();
  let max = maxStreams;
  const closeExcess = (used?: OpenStream) => {
    if (open.size <= max) return;
    const others = [...open]
      .filter((other) => other !== used)
      .sort((a, b) => Number(b.isOfRun) - Number(a.isOfRun));
    for (const replaced of others.slice(0, open.size - max)) {
      replaced.controller.abort();
      replaced.onReplaced();
    }
  };
  return {
    use(stream) {
      if (!open.delete(stream))
        stream.controller.signal.addEventListener("abort", () => open.delete(stream), {
          once: true,
        });
      open.add(stream);
      closeExcess(stream);
    },
    hasCapacity: () => open.size < max,
    shrink() {
      max = maxBesideOthers;
      closeExcess();
    },
  };
}
