import type { OutputEvent } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import type { Delta } from "../../engine/index.ts";
import type { LiveRun } from "./live-run.ts";
import type { OutputBuffers } from "./output-buffers.ts";

/**
 * Minimum time between two deltas of a run. Models send dozens of deltas a second, and each costs a
 * write to every subscriber.
 */
const minIntervalMs = 40;

/** A delta with more characters than this is sent at once, without waiting for `minIntervalMs`. */
const maxPendingCharacters = 16 * 1024;

/**
 * Returns a function that publishes model output to the stream subscribers of a run. The first
 * delta is sent at once. Deltas that arrive within `minIntervalMs` of the last one sent are joined
 * into one. If the run has no stream subscribers, deltas are dropped; `live` keeps only the last
 * attempt if it failed. All subscribers get the same event objects, so that each event is encoded
 * only once.
 */
export function publishOutput(outputBuffers: OutputBuffers, live: LiveRun): (delta: Delta) => void {
  const { runId } = live;
  let pending: Extract<Delta, { text: string }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushedAt = 0;
  let attempt = 1;

  const push = (event: OutputEvent) =>
    outputBuffers.push(runId, event, live.base + live.events.length);

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending === undefined) return;
    const { step, text, type } = pending;
    pending = undefined;
    flushedAt = elapsed();
    push({
      type: "run.output.delta",
      run_id: runId,
      data: { step, kind: type === "text_delta" ? "text" : "reasoning", text },
    });
  }

  return (delta) => {
    if (delta.type === "step_start") {
      attempt = delta.attempt;
      live.failedAttempt = undefined;
    } else if (delta.type === "step_end" && delta.error !== undefined)
      live.failedAttempt = [startOf(runId, delta.step, attempt), endOf(runId, delta)];
    if (!outputBuffers.has(runId)) {
      pending = undefined;
      return;
    }
    switch (delta.type) {
      case "step_start":
        push(startOf(runId, delta.step, delta.attempt));
        break;
      case "step_end":
        flush();
        push(endOf(runId, delta));
        break;
      default: {
        if (pending?.type === delta.type) pending = { ...pending, text: pending.text + delta.text };
        else {
          flush();
          pending = delta;
        }
        const waitMs =
          pending.text.length > maxPendingCharacters ? 0 : flushedAt + minIntervalMs - elapsed();
        if (waitMs <= 0) flush();
        else timer ??= setTimeout(flush, waitMs);
      }
    }
  };
}

function startOf(runId: string, step: number, attempt: number): OutputEvent {
  return { type: "run.output.start", run_id: runId, data: { step, attempt } };
}

function endOf(
  runId: string,
  { step, complete, error }: Extract<Delta, { type: "step_end" }>,
): OutputEvent {
  const data = { step, complete, ...(error !== undefined && { error }) };
  return { type: "run.output.end", run_id: runId, data };
}
