import type { JournalEvent, Run } from "@beckon/client";
import { isEnded } from "../patch-run.ts";

/** The cost of a run or a step. */
export interface Cost {
  /** Micro-dollars; null if the cost is unknown. */
  readonly micros: number | null;
  /**
   * Why the cost is unknown; undefined if it is known, or if the journal does not show the reason.
   */
  readonly reason: string | undefined;
}

/** Why the cost is unknown for model calls that were made before Beckon stored costs. */
const older = "older than the metering of costs";

/** Returns the cost of a model call, from the data of its journal entry. */
export function costOfStep({ model, cost_micros: micros }: JournalEvent["data"]): Cost {
  if (typeof micros === "number") return { micros, reason: undefined };
  if (micros === undefined) return { micros: null, reason: older };
  return { micros: null, reason: noPriceFor([model]) };
}

/**
 * Returns the cost of a run. For a run that has not ended, this is the cost of its model calls so
 * far. The reason for an unknown cost is derived from the journal.
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

/** Returns the sum; null if one of the costs is unknown. */
function sumOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce<number | null>(
    (sum, cost) => (sum === null || cost === null ? null : sum + cost),
    0,
  );
}

/**
 * Returns whether an entry contains the fields of its step. Earlier versions of Beckon stored all
 * fields of a large step in an artifact, so a missing cost in such an entry says nothing.
 */
function isStepData(data: JournalEvent["data"]): boolean {
  return data.model !== undefined;
}

function noPriceFor(models: readonly unknown[]): string {
  const names = [...new Set(models.filter((model) => typeof model === "string"))];
  return names.length === 0 ? "no known price" : `no known price for ${names.join(", ")}`;
}
