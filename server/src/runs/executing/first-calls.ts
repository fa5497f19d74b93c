import { LRUCache } from "lru-cache";
import { type Amounts, noAmounts, type Reservations } from "../../reservations/index.ts";
import type { RunRef } from "../run.ts";

/** What the first model call of a run is expected to use at most. */
export interface PredictedCall {
  readonly amounts: Amounts;
  /** The revision of the workspace's limits when it was predicted. */
  readonly revision: number;
}

/** What was reserved for the first model call of a run when the run was started. */
export interface FirstReservation extends PredictedCall {
  /** Whether an amount of cost or tokens restricts the call. */
  readonly isRestricted: boolean;
}

/** What is known about a run's first model call when the run is started. */
export interface FirstCall {
  /** Identifies the runs whose first calls are alike: those of one caller and one agent. */
  readonly kind: string;
  /** Size of the run's message in JSON, in bytes. */
  readonly messageBytes: number;
  /** Undefined if nothing was reserved with the start. */
  readonly reserved: FirstReservation | undefined;
}

/** Returns what a call whose request has `bytes` bytes uses at most. */
export type AmountsOfCall = (bytes: number, outputTokens: number) => Amounts;

/** What the first calls of one kind of runs have in common. */
interface Known {
  readonly workspaceId: string;
  /** Bytes of a call besides the message, such as the agent's instructions and tools. */
  readonly otherBytes: number;
  readonly maxOutputTokens: number;
  readonly amountsOf: AmountsOfCall;
}

/** Maximum number of kinds of runs for which `FirstCalls` remembers the last call. */
const maxKinds = 10_000;

/**
 * Predicts what the first model calls of runs can use, from the last run of the same kind, so that
 * the statement that starts a run can already reserve it. A wrong prediction does no harm: the run
 * compares it with its call, and reserves again if it is too low.
 */
export class FirstCalls {
  readonly #reservations: Pick<Reservations, "revision">;
  readonly #known = new LRUCache<string, Known>({ max: maxKinds });

  constructor(reservations: Pick<Reservations, "revision">) {
    this.#reservations = reservations;
  }

  /**
   * Returns what to reserve for the first call of a run; undefined if no run of this kind has
   * called its model under a limit.
   */
  predict({ kind, messageBytes }: Omit<FirstCall, "reserved">): PredictedCall | undefined {
    const known = this.#known.get(kind);
    const revision = known && this.#reservations.revision(known.workspaceId);
    if (known === undefined || revision === undefined) return undefined;
    const { otherBytes, maxOutputTokens, amountsOf } = known;
    return { amounts: amountsOf(otherBytes + messageBytes, maxOutputTokens), revision };
  }

  /** Records the first call of a run, whose request has `bytes` bytes. */
  note(
    { kind, messageBytes }: FirstCall,
    { workspaceId }: RunRef,
    {
      bytes,
      maxOutputTokens,
      amountsOf,
    }: { readonly bytes: number } & Pick<Known, "maxOutputTokens" | "amountsOf">,
  ): void {
    const otherBytes = bytes - messageBytes;
    this.#known.set(kind, { workspaceId, otherBytes, maxOutputTokens, amountsOf });
  }
}

/** Returns whether what was reserved is enough for a call that uses at most `needed`. */
export function isEnough({ amounts }: PredictedCall, needed: Amounts): boolean {
  return (Object.keys(noAmounts) as (keyof Amounts)[]).every((each) => {
    const [held, wanted] = [amounts[each], needed[each]];
    return wanted === null ? held === null : held !== null && wanted <= held;
  });
}
