import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { StreamEvent } from "@beckon/contract";
import { sleep } from "../../base/clock.ts";
import { type CursorAdvance, createTurnCache } from "../../events/index.ts";
import { cursorFrame, frameOf } from "./frame.ts";

/** The source of a stream's events. */
export interface StreamSource {
  /**
   * Returns the events, each alone or in batches. The iteration must end soon after `signal`
   * aborts. The source must fetch events only when the consumer asks for the next ones, so that a
   * slow reader does not fill the memory.
   */
  readonly events: (
    signal: AbortSignal,
  ) => AsyncIterable<StreamEvent | readonly StreamEvent[] | CursorAdvance>;
  /**
   * Returns the cursor after an event; undefined if a reader cannot resume after this event. If the
   * sources of several streams have the same function here, the streams share the encoded bytes of
   * events that they send at the same time.
   */
  readonly idOf: (event: StreamEvent) => string | undefined;
}

export interface Timing {
  /**
   * Time between two heartbeats, which are comments that readers ignore. They are sent because
   * proxies disconnect idle connections, and because only a reader that has data to accept can be
   * found to accept none (`stallMs` in `http/listen.ts`).
   */
  readonly heartbeatMs: number;
  /**
   * Minimum time before a reader reconnects. Each reader gets a random time between `retryMs` and
   * twice `retryMs`, so that not all readers reconnect at once.
   */
  readonly retryMs: number;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Tells proxies not to store, change or buffer the stream.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  vary: "accept",
};

/** Frames are joined to one chunk until it has at least this many UTF-16 code units. */
const minChunkLength = 16 * 1024;

/**
 * Time in which the last frames must reach the reader of a revoked stream, before the connection is
 * closed.
 */
const farewellMs = 1_000;

/**
 * Writes the source's events until the source ends, the client disconnects or `signal` aborts. Then
 * writes the event that `farewell` returns, if any. Uses Node's response instead of web streams,
 * because backpressure of the response stops the reading of the source: a slow reader costs only
 * the buffer of its socket and one batch.
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
  let isCorked = false;
  const uncork = () => {
    if (!isCorked) return;
    isCorked = false;
    outgoing.uncork();
  };
  // Frames that are ready at the same time are sent with one write to the socket. Under load, a
  // write for each frame would take more CPU than all other work for the frame.
  const write = (frame: Buffer): boolean => {
    if (!isCorked) {
      isCorked = true;
      outgoing.cork();
      setImmediate(uncork);
    }
    return outgoing.write(frame);
  };
  const heartbeat = setInterval(() => {
    if (!outgoing.writableNeedDrain) outgoing.write(":\n\n");
  }, timing.heartbeatMs);
  try {
    for await (const next of source.events(signal)) {
      for (const chunk of chunksOf(next, source.idOf)) {
        if (signal.aborted) break;
        if (!write(chunk)) await once(outgoing, "drain", { signal }).catch(() => {});
      }
    }
  } finally {
    clearInterval(heartbeat);
    // `end` of a corked response writes the last chunk of the chunked coding before the corked
    // frames, so clients would not read these (Node 24).
    uncork();
    const last = farewell();
    outgoing.end(last && frameOf(last, undefined));
    if (last !== undefined) void sleep(farewellMs).then(() => outgoing.destroy());
  }
}

/**
 * The chunks of events and batches that several streams send in the same turn of the event loop.
 * They are made once for all these streams.
 */
const sharedChunks = createTurnCache<
  StreamEvent | readonly StreamEvent[],
  { readonly idOf: StreamSource["idOf"]; readonly chunks: readonly Buffer[] }
>();

/**
 * Returns the frames of an event or a batch, joined to chunks: a write for each frame would cost
 * more CPU than making the frame.
 */
function chunksOf(
  next: StreamEvent | readonly StreamEvent[] | CursorAdvance,
  idOf: StreamSource["idOf"],
): readonly Buffer[] {
  if ("advancedTo" in next) return [Buffer.from(cursorFrame(next.advancedTo))];
  const shared = sharedChunks(next, () => ({ idOf, chunks: joinFrames([next].flat(), idOf) }));
  return shared.idOf === idOf ? shared.chunks : joinFrames([next].flat(), idOf);
}

function joinFrames(events: readonly StreamEvent[], idOf: StreamSource["idOf"]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let text = "";
  for (const event of events) {
    text += frameOf(event, idOf(event));
    if (text.length < minChunkLength) continue;
    chunks.push(Buffer.from(text));
    text = "";
  }
  if (text !== "") chunks.push(Buffer.from(text));
  return chunks;
}
