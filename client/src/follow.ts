import { accepted, unexpected } from "./answer.ts";
import { type Call, prepare } from "./call.ts";
import { BeckonError } from "./error.ts";
import { framesOf } from "./event-stream.ts";
import { attempt } from "./exchange.ts";
import type { Settings } from "./options.ts";
import { jitter, sleep } from "./retry.ts";
import type { StreamClosed } from "./watched-event.ts";

/** How a stream is followed. */
export interface FollowOptions {
  /** Ends it; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The credential: a key with `runs:read`, or an agent's token. */
  readonly key?: string | undefined;
}

/** A stream that can be gone on with. It knows what was seen of it. */
export interface Followed<Event> {
  /** The request that goes on behind what was seen. */
  readonly call: () => Call;
  /** What an event is to the reader; `gap`: something on the way has lost one before it, so all from there on is asked for again. */
  readonly judge: (event: Event) => "new" | "known" | "gap" | "last";
  /** For errors. */
  readonly runId?: string;
}

/** Milliseconds. */
const connectTimeout = 30_000;
const shortestPause = 10;
const maxPauseMs = 15_000;
/** Without one connection for so long, it ends. */
const patience = 5 * 60_000;

/**
 * The events of a stream, over every cut, until the last one or until the server says that nothing comes any more. Leaving the loop closes
 * the connection.
 * @throws BeckonError when it is refused, or Beckon has not been reached for five minutes.
 */
export async function* follow<Event>(
  settings: Settings,
  { call, judge, runId }: Followed<Event>,
  { signal = new AbortController().signal, key }: FollowOptions,
): AsyncGenerator<Event> {
  let retry = 1_000;
  let failures = 0;
  let reached = performance.now();
  for (;;) {
    let connected: number | undefined;
    try {
      const { response, what } = await connect(settings, call(), { signal, key });
      if (response.status === 204) return;
      connected = performance.now();
      for await (const frame of framesOf(response, what, signal)) {
        if ("retry" in frame) {
          retry = Math.max(frame.retry, shortestPause);
          continue;
        }
        if (isClosed(frame.data)) throw new BeckonError({ ...frame.data.data, runId });
        const event = frame.data as Event;
        const judged = judge(event);
        if (judged === "known") continue;
        if (judged === "gap") break;
        failures = 0;
        yield event;
        if (judged === "last") return;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (!mayPass(thrown) || (connected === undefined && performance.now() - reached > patience))
        throw thrown;
    }
    if (connected !== undefined) {
      reached = performance.now();
      // It held for a while, though nothing was said.
      if (reached - connected > maxPauseMs) failures = 0;
    }
    failures++;
    await sleep(jitter(Math.min(retry * 2 ** (failures - 1), maxPauseMs)), signal);
  }
}

async function connect(
  settings: Settings,
  call: Call,
  { signal, key }: { readonly signal: AbortSignal; readonly key: string | undefined },
): Promise<{ response: Response; what: string }> {
  const prepared = prepare(settings, { ...call, accept: "text/event-stream" }, { key });
  const { what } = prepared;
  return attempt(settings, prepared, { signal, limit: connectTimeout }, async (answer) => {
    const response = await accepted(answer, what);
    if (
      response.status !== 204 &&
      !response.headers.get("content-type")?.startsWith("text/event-stream")
    ) {
      await response.body?.cancel();
      throw unexpected(response, what);
    }
    return { response, what };
  });
}

function isClosed(data: unknown): data is StreamClosed {
  return (data as { readonly type?: unknown } | null)?.type === "stream.closed";
}

/** Cuts, restarts and overload pass; a refusal does not. */
function mayPass(thrown: unknown): boolean {
  if (!(thrown instanceof BeckonError)) return false;
  const { code, status = 0 } = thrown;
  return code === "no_answer" || status === 429 || status >= 500;
}
