import type { JournalEvent, Run } from "@beckon/client";
import { isEnded } from "../patch-run.ts";

/** What a run or a step cost. */
export interface Cost {
  /** Null if it is not known. */
  readonly micros: number | null;
  /** Why it is not known; undefined if it is, or if that cannot be told. */
  readonly reason: string | undefined;
}

/** The reason for all that was executed before costs were stored. */
const older = "older than the metering of costs";

/** Returns what a model call cost, from the data of its journal entry. */
export function costOfStep({ model, cost_micros: micros }: JournalEvent["data"]): Cost {
  if (typeof micros === "number") return { micros, reason: undefined };
  if (micros === undefined) return { micros: null, reason: older };
  return { micros: null, reason: noPriceFor([model]) };
}

/**
 * Returns what a run cost; of a run that has not ended, what its model calls cost so far. The reason
 * for an unknown cost is in the journal.
 */
export function costOfRun(run: Run, events: readonly JournalEvent[]): Cost {
  const calls = events.filter(({ type }) => type === "run.step" || type === "run.step_lost");
  const costs = calls.map(({ data }) => costOfStep(data).micros);
  const micros = isEnded(run) ? run.cost_micros : sumOf(costs);
  if (micros !== null) return { micros, reason: undefined };
  const isOlder = calls.some(({ data }) => isStepData(data) && data.cost_micros === undefined);
  if (isOlder) return { micros, reason: older };
  const models = calls.flatMap(({ data }) => (data.cost_micros === null ? [data.model] : []));
  return { micros, reason: models.length === 0 ? undefined : noPriceFor(models) };
}

/** Returns the sum; null if one cost is not known. */
function sumOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce<number | null>(
    (sum, cost) => (sum === null || cost === null ? null : sum + cost),
    0,
  );
}

/** Data above 64 KiB is an artifact: the journal does not say what the step cost. */
function isStepData(data: JournalEvent["data"]): boolean {
  return data.model !== undefined;
}

function noPriceFor(models: readonly unknown[]): string {
  const names = [...new Set(models.filter((model) => typeof model === "string"))];
  return names.length === 0 ? "no known price" : `no known price for ${names.join(", ")}`;
}
