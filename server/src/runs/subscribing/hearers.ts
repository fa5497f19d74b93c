import type { OutputEvent } from "@beckon/contract";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { RunRef } from "../run.ts";
import type { Hearer } from "./hearer.ts";

/** Who reads streams of runs in this process, by run. Callers that only wait for an answer are not among them. */
export interface Hearers {
  /** Adding one again changes nothing. */
  add(run: RunRef, hearer: Hearer): void;
  delete(runId: string, hearer: Hearer): void;
  has(runId: string): boolean;
  tell(runId: string, event: OutputEvent, seq: number): void;
}

/** @param outputs what waits for all of them, by workspace. */
export function createHearers(outputs: ByteBudget): Hearers {
  const byRun = new Map<string, Set<Hearer>>();
  return {
    add({ runId, workspaceId }, hearer) {
      hearer.hold ??= outputs.hold(workspaceId);
      const hearers = byRun.get(runId);
      if (hearers === undefined) byRun.set(runId, new Set([hearer]));
      else hearers.add(hearer);
    },
    delete(runId, hearer) {
      hearer.hold?.release();
      const hearers = byRun.get(runId);
      if (hearers?.delete(hearer) && hearers.size === 0) byRun.delete(runId);
    },
    has: (runId) => byRun.has(runId),
    tell(runId, event, seq) {
      for (const hearer of byRun.get(runId) ?? []) hearer.hear(event, seq);
    },
  };
}
