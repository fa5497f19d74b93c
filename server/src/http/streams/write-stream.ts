import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { StreamEvent } from "@beckon/contract";
import { sleep } from "../../base/clock.ts";
import { frameOf } from "./frame.ts";

/** The source of a stream's events. */
export interface StreamSource {
  /** Must end soon after `signal` aborts, and must not buffer ahead of its reader. */
  readonly events: (signal: AbortSignal) => AsyncIterable<StreamEvent>;
  /** Returns the cursor after an event; undefined if a reader cannot resume there. */
  readonly idOf: (event: StreamEvent) => string | undefined;
}

export interface Timing {
  /** Milliseconds between two comments, since proxies disconnect idle connections. */
  readonly heartbeatMs: number;
  /**
   * Milliseconds after which a reader that accepts no data is disconnected; above `heartbeatMs`.
   */
  readonly stallMs: number;
  /**
   * Least time in milliseconds before a reader reconnects; each gets up to twice that, as jitter.
   */
  readonly retryMs: number;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // No proxy can store, change or buffer the stream.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  vary: "accept",
};

/** Milliseconds in which the last frames must reach the reader of a stream that was revoked. */
const farewellMs = 1_000;

/**
 * Writes the source's events until the source ends, the client disconnects or `signal` aborts, then
 * `farewell()`, if any. Uses Node's response instead of web streams: its backpressure stops reading
 * the source, so a slow reader costs its socket's buffer and one event.
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
  // The timeout restarts with every write that the socket accepts.
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
