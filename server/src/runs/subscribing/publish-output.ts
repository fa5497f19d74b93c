import type { OutputEvent } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import type { Delta } from "../../engine/index.ts";
import type { LiveRun } from "./live-run.ts";
import type { OutputBuffers } from "./output-buffers.ts";

/**
 * Between two deltas of a run: each costs a write to every subscriber, and models send dozens a
 * second.
 */
const minIntervalMs = 40;

/** Characters of a pending delta above which it is sent without waiting. */
const maxPendingCharacters = 16 * 1024;

/**
 * Returns a function that publishes model output to the stream subscribers of a run. The first
 * delta is sent at once; those that follow within the interval are joined. Without subscribers
 * deltas are dropped at no cost. All subscribers share the event objects.
 */
export function publishOutput(outputBuffers: OutputBuffers, live: LiveRun): (delta: Delta) => void {
  const { runId } = live;
  let pending: Extract<Delta, { text: string }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushedAt = 0;

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
    if (!outputBuffers.has(runId)) {
      pending = undefined;
      return;
    }
    switch (delta.type) {
      case "step_start":
        push({
          type: "run.output.start",
          run_id: runId,
          data: { step: delta.step, attempt: delta.attempt },
        });
        break;
      case "step_end":
        flush();
        push({
          type: "run.output.end",
          run_id: runId,
          data: { step: delta.step, complete: delta.complete },
        });
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
