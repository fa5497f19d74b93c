import type { AgentConfig } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import {
  type AttemptLimit,
  type LimitAttempt,
  LimitStop,
  type MeteredCall,
  type PlannedAttempt,
  type PriceOf,
  RunStopped,
  reachesBound,
} from "../../engine/index.ts";
import {
  type Amounts,
  type AskingRun,
  amountIn,
  type CallBound,
  fitInto,
  type Limit,
  limitError,
  noAmounts,
  priceUnknown,
  type Reservations,
  type Reserved,
  sumOf,
  toLimitReached,
  waitedTooLong,
} from "../../reservations/index.ts";
import {
  type AmountsOfCall,
  type FirstCalls,
  type FirstReservation,
  isEnough,
} from "./first-calls.ts";
import type { ReservingRun } from "./return-first-call.ts";

interface LimitedRun {
  readonly run: Readonly<ReservingRun>;
  readonly config: AgentConfig;
  readonly priceOf: PriceOf;
  /**
   * Called if a limit rejects the first attempt of a call, and the attempt would fit after the
   * limit's reset, or if the run's deadline passes while this attempt waits for a limit. Throws if
   * the run is held instead of ending. Default: it ends.
   */
  readonly holdRun?: () => Promise<void>;
}

interface LimitPorts {
  readonly reservations: Pick<Reservations, "revision" | "reserve">;
  readonly firstCalls: Pick<FirstCalls, "note">;
}

/**
 * Returns the function that reserves what each attempt of a run's model calls can use. It reserves
 * in the database only if the workspace has limits. `max_cost_micros` alone needs no reservation: a
 * run makes its calls one after the other, so the cost of earlier calls is known.
 */
export function limitAttempts(
  { reservations, firstCalls }: LimitPorts,
  { run, config, priceOf, holdRun }: LimitedRun,
): LimitAttempt {
  const { max_cost_micros: maxCostMicros, reserve_output_tokens } = config.limits;
  const maxOutputTokens = config.model_settings.max_output_tokens ?? reserve_output_tokens;
  const amountsOf = createBound(priceOf, config.limits.timeout_seconds * 1_000);
  let firstCall = run.firstCall;

  /**
   * Returns what was reserved with the start of the run, if that is enough for an attempt. The
   * attempt then needs no reservation of its own. Undefined for all attempts after the first one.
   */
  function reservedByStart(
    bytes: number,
    largest: Amounts,
    revision: number,
  ): FirstReservation | undefined {
    if (firstCall === undefined) return undefined;
    const { reserved } = firstCall;
    firstCalls.note(firstCall, run, { bytes, maxOutputTokens, amountsOf });
    firstCall = undefined;
    const isCovered = reserved?.revision === revision && isEnough(reserved, largest);
    return isCovered ? reserved : undefined;
  }

  async function limit(
    attempt: PlannedAttempt,
    revision: number | undefined,
    signal: AbortSignal,
  ): Promise<AttemptLimit | undefined> {
    const holdFirst = attempt.isFirst ? holdRun : undefined;
    const bytes = attempt.bytes();
    // Computed once, because most calls of `amountsOf` are for `maxOutputTokens`, and computing a
    // price takes some microseconds of CPU time.
    const largest = amountsOf(bytes, maxOutputTokens);
    const call: CallBound = {
      maxOutputTokens,
      amountsOf: (outputTokens) =>
        outputTokens === maxOutputTokens ? largest : amountsOf(bytes, outputTokens),
      used: usedBy(attempt.earlier),
    };
    const runLimit: Limit | undefined =
      maxCostMicros === null
        ? undefined
        : {
            scope: "run",
            scopeId: run.runId,
            metric: "cost",
            allowed: maxCostMicros,
            spent: attempt.runCostMicros() ?? 0,
            resetsAt: null,
          };
    const byStart = revision === undefined ? undefined : reservedByStart(bytes, largest, revision);
    const result =
      revision !== undefined && byStart === undefined
        ? await reserve(reservations, { ...run, call, runLimit }, signal, holdFirst)
        : fitInto(runLimit === undefined ? [] : [runLimit], call);
    switch (result.kind) {
      case "unlimited":
        return undefined;
      case "spent": {
        const reached = toLimitReached(result.limit, result.needed);
        const fitsLater = reached.needed === undefined && reached.resets_at !== null;
        if (fitsLater) await holdFirst?.();
        const error = limitError(reached, result.isUsedUp ? undefined : result);
        throw new LimitStop({ error, limit: reached });
      }
      case "fenced":
        throw new RunStopped("fenced");
      case "price_unknown":
        throw new LimitStop({ error: priceUnknown(config.model) });
      default: {
        const { outputTokens, loweredBy } = result;
        const granted = result.kind === "granted" ? result : byStart;
        const isReserved = granted !== undefined;
        // If the call costs nothing and only money is limited, or until a planned plan takes
        // effect, a longer answer exceeds no limit. A model with a small context would reject the
        // bound.
        const isRestricted =
          (runLimit !== undefined && amountIn(runLimit, largest) !== 0) ||
          granted?.isRestricted === true;
        return {
          maxOutputTokens: isRestricted ? outputTokens : undefined,
          isReserved,
          coversNext: () => isReserved && reservations.revision(run.workspaceId) === revision,
          endOfTruncated:
            loweredBy === undefined
              ? undefined
              : (calls) => {
                  if (!reachesBound(calls, outputTokens)) return undefined;
                  const reached = toLimitReached(afterCalls(loweredBy, calls));
                  return { error: limitError(reached), limit: reached };
                },
        };
      }
    }
  }

  return (attempt, signal) => {
    // The revision is read before the reservation. If a limit changes after that, the reserved
    // amounts may not take the change into account. `coversNext` then returns false, so the next
    // attempt reserves again.
    const revision = reservations.revision(run.workspaceId);
    return revision !== undefined || maxCostMicros !== null
      ? limit(attempt, revision, signal)
      : undefined;
  };
}

/**
 * Reserves what a call can use.
 * @param holdRun throws if the run is held because its deadline passed while it waited for a limit.
 *   Holding the run returns what was reserved. Undefined: the run is not held.
 * @throws {LimitStop} if the run's deadline passes while the run waits for a limit, or while a
 *   request that ends this wait is in progress.
 * @throws the reason of `signal` if it aborts otherwise.
 */
async function reserve(
  reservations: Pick<Reservations, "reserve">,
  run: AskingRun,
  signal: AbortSignal,
  holdRun: (() => Promise<void>) | undefined,
): Promise<Reserved> {
  const startedAt = elapsed();
  const waited: { for?: Limit } = {};
  try {
    const result = await reservations.reserve(run, signal, (limit) => {
      waited.for = limit;
    });
    // `signal` does not interrupt a request, so the result can be too late for the call.
    const isCallPossible = ["granted", "fits", "unlimited"].includes(result.kind);
    if (isCallPossible && waited.for !== undefined) signal.throwIfAborted();
    return result;
  } catch (thrown) {
    const isDeadline = thrown instanceof RunStopped && thrown.reason === "deadline";
    if (!isDeadline || waited.for === undefined) throw thrown;
    await holdRun?.();
    const limit = toLimitReached(waited.for);
    throw new LimitStop({ error: waitedTooLong(limit, elapsed() - startedAt), limit });
  }
}

/**
 * Returns the function that computes what a call uses at most. The function is kept after the run
 * has ended (`FirstCalls`), so it must refer to nothing of the run.
 *
 * The price may change while a call waits for its reservation or its answer. Both waits end within
 * `withinMs`, the run's timeout, so the highest price until then is used.
 */
function createBound(priceOf: PriceOf, withinMs: number): AmountsOfCall {
  return (bytes, outputTokens) => boundOf((usage) => priceOf(usage, withinMs), bytes, outputTokens);
}

/**
 * Returns what a call uses at most. A tokenizer produces at most one token per byte. The provider
 * may read the input from its cache or write it there. Both can cost more than uncached input, so
 * the highest of the three costs is taken. No model's reasoning costs more than its other output.
 */
function boundOf(priceOf: PriceOf, bytes: number, outputTokens: number): Amounts {
  const plain = { input_tokens: bytes, output_tokens: outputTokens, cached_input_tokens: 0 };
  const prices = [
    plain,
    { ...plain, cached_input_tokens: bytes },
    { ...plain, cache_write_tokens: bytes },
  ].map((usage) => priceOf(usage));
  const costMicros = highest(prices.map(({ micros }) => micros));
  return {
    ...noAmounts,
    costMicros,
    planCostMicros: highest(prices.map(({ standardMicros }) => standardMicros)) ?? costMicros,
    tokens: bytes + outputTokens,
  };
}

/** Returns the highest known cost; null if none is known. */
function highest(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Returns what calls have used. */
function usedBy(calls: readonly MeteredCall[]): Amounts {
  return calls
    .map(({ usage, price, voiceMs = 0, browserMs = 0 }) => ({
      costMicros: price.micros,
      planCostMicros: price.standardMicros ?? price.micros,
      tokens: usage.input_tokens + usage.output_tokens,
      voiceMs,
      browserMs,
    }))
    .reduce(sumOf, noAmounts);
}

/** Returns the limit with what the calls used added to `spent`. */
function afterCalls(limit: Limit, calls: readonly MeteredCall[]): Limit {
  return { ...limit, spent: limit.spent + (amountIn(limit, usedBy(calls)) ?? 0) };
}
