import type { OutputEvent } from "@beckon/contract";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "./output-buffer.ts";

/** Who reads streams of runs in this process, by run. Callers that only wait for an answer are not among them. */
export interface OutputBuffers {
  /** Adding one again changes nothing. */
  add(run: RunRef, output: OutputBuffer): void;
  delete(runId: string, output: OutputBuffer): void;
  has(runId: string): boolean;
  push(runId: string, event: OutputEvent, seq: number): void;
}

/** @param outputs what waits for all of them, by workspace. */
export function createOutputBuffers(outputs: ByteBudget): OutputBuffers {
  const byRun = new Map<string, Set<OutputBuffer>>();
  return {
    add({ runId, workspaceId }, output) {
      output.hold ??= outputs.hold(workspaceId);
      const outputBuffers = byRun.get(runId);
      if (outputBuffers === undefined) byRun.set(runId, new Set([output]));
      else outputBuffers.add(output);
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
