import { newIdempotencyKey } from "./call.ts";
import { explainStart } from "./error.ts";
import { exchange } from "./exchange.ts";
import type { InvokeAgentBody } from "./generated/schemas.ts";
import type { StartOptions } from "./invoke.ts";
import type { Settings } from "./options.ts";
import { unexpectedResponse } from "./response.ts";
import { ensureStream, type FollowOptions } from "./subscribe.ts";
import { watch } from "./watch.ts";
import type { WatchedEvent } from "./watched-event.ts";

/** Options of `agents.startAndWatch`. `signal` ends the call and the watch, but not the run. */
export interface StartAndWatchOptions
  extends StartOptions,
    Pick<FollowOptions, "onActivity" | "onDisconnect"> {}

/** A run that was started, with its events. */
export interface WatchedRun {
  readonly run_id: string;
  /**
   * Yields the same events as `runs.watch`. The connection stays open until all events are read,
   * `signal` aborts or `return()` is called.
   */
  readonly events: AsyncGenerator<WatchedEvent>;
}

/**
 * Starts a run and watches it from its first event. A separate `runs.watch` after a start can miss
 * the first output of the model. Here the response to the start is the stream. It lacks output that
 * a slow reader misses, that the agent's settings do not stream, and that another server process
 * generates, because the run was queued first. `run.step` has all of it.
 * @throws BeckonError if the start failed, or its response was lost
 */
export async function startAndWatch(
  settings: Settings,
  agentId: string,
  body: InvokeAgentBody,
  { token, onActivity, onDisconnect, ...options }: StartAndWatchOptions = {},
): Promise<WatchedRun> {
  const call = {
    method: "POST",
    path: "/agents/{agent_id}/invoke",
    params: [agentId],
    // A copy, like that of `tags`, because the caller can change both before the request is sent
    // again.
    body: structuredClone(body),
    accept: "text/event-stream",
    once: true,
    labelled: true,
  };
  const { signal, parse, externalId, callback } = options;
  const tags = options.tags?.slice();
  const { idempotencyKey = newIdempotencyKey() } = options;
  const key = token ?? options.key;
  const beganAt = Date.now();
  const request = { ...options, key, idempotencyKey };
  const opened = await exchange(settings, call, request, ensureStream).catch((thrown) => {
    throw explainStart(thrown);
  });
  const { response, operation } = opened;
  const runId = response.headers.get("location")?.split("/").at(-1);
  if (runId === undefined) {
    await response.body?.cancel();
    throw unexpectedResponse(response, operation);
  }
  // `idempotency-replayed` means that an earlier request with this Idempotency-Key started the run.
  // If the caller chose the Idempotency-Key, that request may be hours old. It may also be an
  // earlier attempt of this call, but the response does not show which of the two it is.
  const isOld =
    options.idempotencyKey !== undefined && response.headers.has("idempotency-replayed");
  const sentAt = isOld ? Number.NEGATIVE_INFINITY : beganAt;
  const following = { key, signal, onActivity, onDisconnect, parse };
  // All that the Idempotency-Key is bound to, because the start can be sent again.
  const repeated = { idempotencyKey, externalId, tags, callback };
  const start = { opened, call, options: repeated, sentAt };
  return { run_id: runId, events: watch(settings, runId, following, start) };
}
