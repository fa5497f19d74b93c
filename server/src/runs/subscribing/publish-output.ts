import type { OutputEvent } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import type { Delta } from "../../engine/index.ts";
import type { LiveRun } from "./live-run.ts";
import type { OutputBuffers } from "./output-buffers.ts";

/** Milliseconds between two deltas of a run: models say dozens of pieces a second, and each costs every reader a write. */
const pace = 40;

/** Characters that wait for the next delta. */
const maxPending = 16 * 1024;

/**
 * Tells the run's hearers what its model says: the first piece at once, later ones gathered. While nobody hears it costs nothing. All
 * hearers get the same objects.
 */
export function publishOutput(outputBuffers: OutputBuffers, live: LiveRun): (delta: Delta) => void {
  const { runId } = live;
  let pending: Extract<Delta, { text: string }> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let toldAt = 0;

  const tell = (event: OutputEvent) =>
    outputBuffers.push(runId, event, live.base + live.events.length);

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending === undefined) return;
    const { step, text, type } = pending;
    pending = undefined;
    toldAt = elapsed();
    tell({
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
        tell({
          type: "run.output.start",
          run_id: runId,
          data: { step: delta.step, attempt: delta.attempt },
        });
        break;
      case "step_end":
        flush();
        tell({
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
        const wait = pending.text.length > maxPending ? 0 : toldAt + pace - elapsed();
        if (wait <= 0) flush();
        else timer ??= setTimeout(flush, wait);
      }
    }
  };
}
