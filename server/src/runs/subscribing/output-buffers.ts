import type { OutputEvent } from "@beckon/contract";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "./output-buffer.ts";

/** The output buffers of all stream subscribers of this process, by run. */
export interface OutputBuffers {
  /** Adds a buffer. Returns false, without an effect, if the buffer was already added. */
  add(run: RunRef, output: OutputBuffer): boolean;
  delete(runId: string, output: OutputBuffer): void;
  has(runId: string): boolean;
  push(runId: string, event: OutputEvent, seq: number): void;
}

/**
 * Creates the table of output buffers.
 * @param outputs the budget from which all buffers reserve memory. Each workspace has a share.
 */
export function createOutputBuffers(outputs: ByteBudget): OutputBuffers {
  const byRun = new Map<string, Set<OutputBuffer>>();
  return {
    add({ runId, workspaceId }, output) {
      output.hold ??= outputs.hold(workspaceId);
      const outputBuffers = byRun.get(runId);
      if (outputBuffers?.has(output)) return false;
      if (outputBuffers === undefined) byRun.set(runId, new Set([output]));
      else outputBuffers.add(output);
      return true;
    },
    delete(runId, output) {
      output.hold?.release();
      const outputBuffers = byRun.get(runId);
      if (outputBuffers?.delete(output) && outputBuffers.size === 0) byRun.delete(runId);
    },
    has: (runId) => byRun.has(runId),
    push(runId, event, seq) {
      for (const output of byRun.get(runId) ?? []) output.push(event, seq);
    },
  };
}
