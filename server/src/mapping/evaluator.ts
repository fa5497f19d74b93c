import type { MappingMistake } from "@beckon/contract";
import type { Log } from "../base/log.ts";
import { EvaluationLane } from "./lane.ts";
import {
  largeLimits,
  type Mapped,
  type Mapping,
  MappingError,
  type MappingVariables,
  maxSmallBytes,
  smallLimits,
} from "./mapping.ts";

/** Evaluates filters and templates in child processes. */
export interface Evaluator {
  /**
   * Returns the result of a mapping for one request. A mapping without filter and template needs no
   * child process.
   * @param tenant the workspace of the mapping. Tenants share the child's time fairly.
   * @throws MappingError if the filter or template fails; ApiError `unavailable` if too many
   *   evaluations wait, no child can be started, or this evaluator is closed.
   */
  evaluate(
    input: Mapping & { readonly tenant: string; readonly variables: MappingVariables },
  ): Promise<Mapped>;
  /**
   * Returns the mistakes of a filter and a template that can be found without a request.
   * @throws ApiError `unavailable`, like `evaluate`.
   */
  check(input: Mapping & { readonly tenant: string }): Promise<MappingMistake[]>;
  /** Stops the child processes. */
  close(): void;
}

/** Passed to operations that evaluate mappings. */
export interface MappingServices {
  readonly mapping: Evaluator;
}

/** Maximum evaluations that are sent to the small child before their results arrive. */
const maxInFlight = 64;
/** The large child holds much memory, so it is stopped after a minute without work. */
const largeIdleMs = 60_000;

/** Creates an evaluator. Each of its two child processes starts when it is first needed. */
export function createEvaluator({ log }: { log: Log }): Evaluator {
  const small = new EvaluationLane({ ...smallLimits, log, maxInFlight, idleMs: null });
  const large = new EvaluationLane({ ...largeLimits, log, maxInFlight: 1, idleMs: largeIdleMs });
  return {
    async evaluate({ tenant, filter, template, variables: { payload, ...variables } }) {
      if (filter === null && template === null) return { passes: true, message: null };
      const { format, text } = payload;
      const lane = Buffer.byteLength(text) > maxSmallBytes ? large : small;
      const request = { kind: "evaluate", filter, template, format, variables } as const;
      const result = await lane.run(tenant, request, text);
      if (result.kind === "failed") throw new MappingError(result.mistake);
      if (result.kind === "mapped") return { passes: result.passes, message: result.message };
      throw new Error(`The evaluation returned ${result.kind}.`);
    },
    async check({ tenant, filter, template }) {
      if (filter === null && template === null) return [];
      try {
        const result = await small.run(tenant, { kind: "check", filter, template }, "");
        if (result.kind === "checked") return result.mistakes;
        throw new Error(`The check returned ${result.kind}.`);
      } catch (thrown) {
        if (!(thrown instanceof MappingError)) throw thrown;
        return [{ part: thrown.part, message: thrown.message, line: thrown.line }];
      }
    },
    close() {
      small.close();
      large.close();
    },
  };
}
