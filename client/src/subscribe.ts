import { type Call, prepare } from "./call.ts";
import { BeckonError } from "./error.ts";
import { readFrames } from "./event-stream.ts";
import { attempt } from "./exchange.ts";
import { leavable } from "./leavable.ts";
import type { LabelOptions, OnceOptions, Settings } from "./options.ts";
import { ensureExpected, ensureOk, hasMediaType } from "./response.ts";
import { isCertificateError, isIncomplete, jitter, sleep } from "./retry.ts";
import type { StreamClosed } from "./watched-event.ts";

/** Options of `events.watch` and `runs.watch`. */
export interface FollowOptions {
  /**
   * Aborts the stream. The loop that reads it then throws the signal's reason. Default: the stream
   * cannot be aborted.
   */
  readonly signal?: AbortSignal | undefined;
  /** The credential: a key with scope `runs:read`, or an agent's token. Default: the client's. */
  readonly key?: string | undefined;
  /**
   * Called for each connection and each chunk of data on it, including the keep-alive comments that
   * the server sends every 15 seconds. Use it to show whether the connection is alive.
   */
  readonly onActivity?: (() => void) | undefined;
  /**
   * Called each time the connection is closed before the stream has ended, and when it cannot be
   * made. The client then reconnects. A connection that is lost without an error is detected after
   * 45 seconds.
   */
  readonly onDisconnect?: (() => void) | undefined;
  /**
   * Parses the JSON of an event. Default: `JSON.parse`, which rounds integers outside of ±2^53.
   */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** A response whose body is a stream. */
export interface OpenedStream {
  readonly response: Response;
  /** Method and path, for error messages. */
  readonly operation: string;
}

/** A stream that can be resumed. Implementations keep the position of the last event. */
export interface Subscription<Event> {
  /** Returns the request that resumes the stream after the last event. */
  readonly call: () => Call;
  /** Options of the request that `call` returns, besides the credential. Default: none. */
  readonly options?: (OnceOptions & LabelOptions) | undefined;
  /**
   * Called with the error if the request of `call` opens no stream. Returns true if `call` returns
   * another request from now on; that request is then sent at once. Default: always false.
   */
  readonly changeCall?: (rejection: BeckonError) => boolean;
  /**
   * Returns how to treat an event. `new`: the event is yielded. `known`: it is a duplicate and is
   * skipped. `gap`: an event before it is missing, so the stream is resumed after the last event
   * that was yielded. `last`: the event is yielded, then the stream ends.
   */
  readonly classify: (event: Event) => "new" | "known" | "gap" | "last";
  /**
   * Called with the cursor after events that the filter of the stream leaves out. Default: the
   * cursor is ignored.
   */
  readonly advance?: (cursor: string) => void;
  /** Called after the caller has handled an event, when it requests the next one. Default: none. */
  readonly handled?: (event: Event) => void;
  /** Id of the run whose events are streamed, for errors. Absent for a stream of a workspace. */
  readonly runId?: string;
  /** A response that is read before any request is sent; undefined if no stream is open yet. */
  readonly opened?: OpenedStream | undefined;
}

const connectTimeoutMs = 30_000;
const minDelayMs = 10;
const maxDelayMs = 15_000;
/**
 * If no connection succeeds for this long, the stream fails. It fails at once if the server's
 * `Retry-After` ends after this time.
 */
const maxDisconnectedMs = 5 * 60_000;

/**
 * Yields the events of a stream and reconnects when the connection is lost. Ends after the last
 * event, or when the server responds with 204 because no further event will follow. Leaving the
 * loop closes the connection, and so does `return()`, also while the next event is awaited.
 * @throws BeckonError if the request is rejected, if the credential is no longer valid, after five
 *   minutes without a connection, or at once if `Retry-After` ends later than that or the server's
 *   certificate is not trusted; the signal's reason if the signal aborts
 */
export function subscribe<Event>(
  settings: Settings,
  subscription: Subscription<Event>,
  { signal, ...options }: FollowOptions,
): AsyncGenerator<Event> {
  return leavable(signal, (either) => {
    // Closes an open stream also if nobody reads its events. Once they are read, `cancel` rejects,
    // because the body is locked, and the reader closes the stream.
    const { body } = subscription.opened?.response ?? {};
    const close = () => void body?.cancel().catch(() => {});
    either.addEventListener("abort", close, { once: true });
    return follow(settings, subscription, { ...options, signal: either });
  });
}

async function* follow<Event>(
  settings: Settings,
  {
    call,
    options,
    changeCall,
    classify,
    advance,
    handled,
    runId,
    opened: first,
  }: Subscription<Event>,
  { signal, key, onDisconnect, ...reading }: FollowOptions & { readonly signal: AbortSignal },
): AsyncGenerator<Event> {
  let retryMs = 1_000;
  let failures = 0;
  let lastConnectedAt = performance.now();
  let opened = first;
  for (;;) {
    let connectedAt: number | undefined;
    let retryAfterMs = 0;
    try {
      const { response, operation } =
        opened ?? (await connect(settings, call(), { ...options, signal, key }));
      opened = undefined;
      if (response.status === 204) return;
      connectedAt = performance.now();
      reading.onActivity?.();
      for await (const frame of readFrames(response, operation, { signal, ...reading })) {
        // One chunk can have several events, and the caller can abort while it handles one of them.
        signal.throwIfAborted();
        if ("retry" in frame) {
          retryMs = Math.max(frame.retry, minDelayMs);
          continue;
        }
        if ("cursor" in frame) {
          advance?.(frame.cursor);
          continue;
        }
        if (isClosed(frame.data)) throw new BeckonError({ ...frame.data.data, runId });
        const event = frame.data as Event;
        const kind = classify(event);
        if (kind === "known") continue;
        if (kind === "gap") break;
        failures = 0;
        yield event;
        handled?.(event);
        if (kind === "last") return;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (connectedAt === undefined && thrown instanceof BeckonError && changeCall?.(thrown))
        continue;
      if (!isTransient(thrown)) throw thrown;
      retryAfterMs = 1_000 * (thrown.retryAfter ?? 0);
      if (
        connectedAt === undefined &&
        performance.now() + retryAfterMs - lastConnectedAt > maxDisconnectedMs
      )
        throw thrown;
    }
    if (connectedAt !== undefined) {
      lastConnectedAt = performance.now();
      // A connection that lasted longer than `maxDelayMs` counts as a success even if no event
      // came, so the next delay is the shortest one again.
      if (lastConnectedAt - connectedAt > maxDelayMs) failures = 0;
    }
    failures++;
    onDisconnect?.();
    const delayMs = Math.max(retryMs, Math.min(retryMs * 2 ** (failures - 1), maxDelayMs));
    await sleep(Math.max(delayMs, retryAfterMs) + jitter(delayMs) / 2, signal);
  }
}

async function connect(
  settings: Settings,
  call: Call,
  options: OnceOptions & LabelOptions & { readonly signal: AbortSignal },
): Promise<OpenedStream> {
  const prepared = prepare(settings, { ...call, accept: "text/event-stream" }, options);
  const { operation } = prepared;
  return attempt(
    settings,
    prepared,
    { signal: options.signal, timeoutMs: connectTimeoutMs },
    async (received) => {
      const response = await ensureOk(received, operation);
      return response.status === 204 ? { response, operation } : ensureStream(response, operation);
    },
  );
}

/** Returns the response if it is a stream. @throws BeckonError `unexpected_answer` if it is not */
export async function ensureStream(response: Response, operation: string): Promise<OpenedStream> {
  const isStream = hasMediaType(response, "text/event-stream");
  return { response: await ensureExpected(response, operation, isStream), operation };
}

function isClosed(data: unknown): data is StreamClosed {
  return (data as { readonly type?: unknown } | null)?.type === "stream.closed";
}

/**
 * Returns whether another attempt can succeed: after a network error, and while the server restarts
 * or is overloaded. A certificate stays untrusted.
 */
function isTransient(thrown: unknown): thrown is BeckonError {
  if (!(thrown instanceof BeckonError)) return false;
  const { code, status = 0 } = thrown;
  if (isCertificateError(thrown)) return false;
  return code === "no_answer" || status === 429 || status >= 500 || isIncomplete(thrown);
}
