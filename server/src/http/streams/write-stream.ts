import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { StreamEvent } from "@beckon/contract";
import { sleep } from "../../base/clock.ts";
import { frameOf } from "./frame.ts";

/** Where events come from: a run's journal, or another source. */
export interface StreamSource {
  /** Must end soon after `signal` has aborted. What is not asked for yet must not be kept. */
  readonly events: (signal: AbortSignal) => AsyncIterable<StreamEvent>;
  /** The cursor at which a reader goes on who has had this event; undefined: it is not a place to go on at. */
  readonly idOf: (event: StreamEvent) => string | undefined;
}

export interface Timing {
  /** Milliseconds between two comments: what lies between would cut a connection on which nothing happens. */
  readonly heartbeatMs: number;
  /** A reader who takes nothing for so many milliseconds, while there is something to take, is cut. More than `heartbeatMs`. */
  readonly stallMs: number;
  /** Milliseconds after which a reader that was cut comes back, and up to twice that, so that not all come at once. */
  readonly retryMs: number;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Nothing on the way may keep it, change it, or wait until there is more of it.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  vary: "accept",
};

/** Milliseconds that the last frames have to reach a reader once there is nothing more to come because it may not read on. */
const farewellMs = 1_000;

/**
 * Answers with the source's events until it ends, the reader leaves, or `signal` aborts; then says `farewell()`, if it has one. Past the
 * framework and its web streams: Node's own response says when a reader is behind, and then nothing is asked of the source, so a slow
 * reader costs what the socket holds and one event.
 */
export async function writeStream(
  outgoing: ServerResponse,
  source: StreamSource,
  {
    signal,
    farewell,
    headers,
    timing,
  }: {
    readonly signal: AbortSignal;
    readonly farewell: () => StreamEvent | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly timing: Timing;
  },
): Promise<void> {
  outgoing.writeHead(200, { ...headers, ...streamHeaders });
  outgoing.write(`retry: ${Math.round(timing.retryMs * (1 + Math.random()))}\n\n`);
  // Counts from the last byte that was taken, as far as can be seen from here.
  outgoing.setTimeout(timing.stallMs, () => outgoing.destroy());
  const heartbeat = setInterval(() => {
    if (!outgoing.writableNeedDrain) outgoing.write(":\n\n");
  }, timing.heartbeatMs);
  try {
    for await (const event of source.events(signal)) {
      if (!outgoing.write(frameOf(event, source.idOf(event))))
        await once(outgoing, "drain", { signal }).catch(() => {});
    }
  } finally {
    clearInterval(heartbeat);
    const last = farewell();
    outgoing.end(last && frameOf(last, undefined));
    if (last !== undefined) void sleep(farewellMs).then(() => outgoing.destroy());
  }
}
