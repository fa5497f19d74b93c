import type { AgentConfig } from "@beckon/contract";
import {
  type AttemptLimit,
  type LimitAttempt,
  LimitStop,
  type MeteredCall,
  type PlannedAttempt,
  type PriceOf,
} from "../../engine/index.ts";
import {
  type Amounts,
  amountIn,
  type CallBound,
  fitInto,
  type Limit,
  limitError,
  noAmounts,
  priceUnknown,
  type Reservations,
  sumOf,
  toLimitReached,
} from "../../reservations/index.ts";
import type { RunRef } from "../run.ts";

interface LimitedRun {
  readonly run: RunRef;
  readonly config: AgentConfig;
  readonly priceOf: PriceOf;
}

/**
 * Returns the function that reserves what each attempt of a run's model calls can use. It reserves
 * in the database only if the workspace has limits. `max_cost_micros` alone needs no reservation: a
 * run makes its calls one after the other, so the cost of earlier calls is known.
 */
export function limitAttempts(
  reservations: Pick<Reservations, "isLimited" | "reserve">,
  { run, config, priceOf }: LimitedRun,
): LimitAttempt {
  const { max_cost_micros: maxCostMicros, reserve_output_tokens } = config.limits;
  const maxOutputTokens = config.model_settings.max_output_tokens ?? reserve_output_tokens;

  async function limit(
    attempt: PlannedAttempt,
    isLimited: boolean,
    signal: AbortSignal,
  ): Promise<AttemptLimit | undefined> {
    const bytes = attempt.bytes();
    // Computed once, because most calls of `amountsOf` are for `maxOutputTokens`, and computing a
    // price takes some microseconds of CPU time.
    const largest = boundOf(priceOf, bytes, maxOutputTokens);
    const call: CallBound = {
      maxOutputTokens,
      amountsOf: (outputTokens) =>
        outputTokens === maxOutputTokens ? largest : boundOf(priceOf, bytes, outputTokens),
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
    const result = isLimited
      ? await reservations.reserve({ ...run, call, runLimit }, signal)
      : fitInto(runLimit === undefined ? [] : [runLimit], call);
    switch (result.kind) {
      case "unlimited":
        return undefined;
      case "spent": {
        const reached = toLimitReached(result.limit);
        throw new LimitStop({ error: limitError(reached), limit: reached });
      }
      case "price_unknown":
        throw new LimitStop({ error: priceUnknown(config.model) });
      default: {
        const { outputTokens, loweredBy } = result;
        return {
          maxOutputTokens: outputTokens,
          endOfTruncated:
            loweredBy === undefined
              ? undefined
              : (calls) => {
                  const usage = calls.at(-1)?.usage;
                  const isAtBound = usage?.estimated || (usage?.output_tokens ?? 0) >= outputTokens;
                  if (!isAtBound) return undefined;
                  const reached = toLimitReached(afterCalls(loweredBy, calls));
                  return { error: limitError(reached), limit: reached };
                },
        };
      }
    }
  }

  return (attempt, signal) => {
    const isLimited = reservations.isLimited(run.workspaceId);
    return isLimited || maxCostMicros !== null ? limit(attempt, isLimited, signal) : undefined;
  };
}

/**
 * Returns what a call uses at most. A tokenizer produces at most one token per byte. The higher of
 * two costs is taken, because the provider may write the input to its cache, which can cost more.
 */
function boundOf(priceOf: PriceOf, bytes: number, outputTokens: number): Amounts {
  const usage = { input_tokens: bytes, output_tokens: outputTokens, cached_input_tokens: 0 };
  const plain = priceOf(usage);
  const written = priceOf({ ...usage, cache_write_tokens: bytes });
  const dearer = (one: number | null, other: number | null) =>
    one === null || other === null ? (one ?? other) : Math.max(one, other);
  const costMicros = dearer(plain.micros, written.micros);
  return {
    ...noAmounts,
    costMicros,
    planCostMicros: dearer(plain.standardMicros, written.standardMicros) ?? costMicros,
    tokens: bytes + outputTokens,
  };
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
