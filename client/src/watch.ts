import { accepted, unexpected } from "./answer.ts";
import { prepare } from "./call.ts";
import { BeckonError } from "./error.ts";
import { framesOf } from "./event-stream.ts";
import { attempt } from "./exchange.ts";
import type { Settings } from "./options.ts";
import { jitter, sleep } from "./retry.ts";
import { endsRun, type StreamClosed, type WatchedEvent } from "./watched-event.ts";

export interface WatchOptions {
  /** The `seq` of the last event that was seen. Default 0: from the beginning. */
  readonly after?: number | undefined;
  /** Ends the watch, which then throws the signal's reason. The run goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The credential: a key with `runs:read`, or the agent's token. */
  readonly key?: string | undefined;
}

/** Milliseconds. */
const connectTimeout = 30_000;
const longestPause = 15_000;
/** Without one connection for so long, the watch ends. */
const patience = 5 * 60_000;

/**
 * The events of a run, live, until it has ended: each entry of its journal once and in order, over every cut, and between them what the
 * model says. Leaving the loop closes the connection.
 * @throws BeckonError when the credential or the run is refused, or Beckon has not been reached for five minutes.
 */
export async function* watch(
  settings: Settings,
  runId: string,
  { after = 0, signal = new AbortController().signal, key }: WatchOptions = {},
): AsyncGenerator<WatchedEvent> {
  let seen = after;
  let retry = 1_000;
  let failures = 0;
  let reached = performance.now();
  for (;;) {
    let connected: number | undefined;
    try {
      const { response, what } = await connect(settings, runId, { after: seen, signal, key });
      // A run that has ended, and of which everything was seen.
      if (response.status === 204) return;
      connected = performance.now();
      for await (const frame of framesOf(response, what, signal)) {
        if ("retry" in frame) {
          retry = frame.retry;
          continue;
        }
        failures = 0;
        const event = frame.data as WatchedEvent | StreamClosed;
        if (event.type === "stream.closed") throw new BeckonError({ code: event.data.code, message: event.data.message, runId });
        if ("seq" in event) {
          if (event.seq <= seen) continue;
          // Something on the way has lost one: it is asked for again.
          if (event.seq > seen + 1) break;
          seen = event.seq;
        }
        yield event;
        if (endsRun(event)) return;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (!mayPass(thrown) || (connected === undefined && performance.now() - reached > patience)) throw thrown;
    }
    if (connected !== undefined) {
      reached = performance.now();
      // It held for a while, though nothing was said.
      if (reached - connected > longestPause) failures = 0;
    }
    failures++;
    await sleep(jitter(Math.min(retry * 2 ** (failures - 1), longestPause)), signal);
  }
}

async function connect(
  settings: Settings,
  runId: string,
  { after, signal, key }: { readonly after: number; readonly signal: AbortSignal; readonly key: string | undefined },
): Promise<{ response: Response; what: string }> {
  const prepared = prepare(
    settings,
    {
      method: "GET",
      path: "/runs/{run_id}/events",
      params: [runId],
      accept: "text/event-stream",
      headers: { "last-event-id": after === 0 ? undefined : after },
    },
    { key },
  );
  const { what } = prepared;
  return attempt(settings, prepared, { signal, limit: connectTimeout }, async (answer) => {
    const response = await accepted(answer, what);
    if (response.status !== 204 && !response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await response.body?.cancel();
      throw unexpected(response, what);
    }
    return { response, what };
  });
}

/** Cuts, restarts and overload pass; a refusal does not. */
function mayPass(thrown: unknown): boolean {
  if (!(thrown instanceof BeckonError)) return false;
  const { code, status = 0 } = thrown;
  return code === "no_answer" || status === 429 || status >= 500;
}
