import { type Case, defaultMeasures } from "../cases.ts";
import type { Measurement } from "../measure.ts";
import { type Comparison, compare, median, type Pair, type Side } from "./statistics.ts";

export interface ComparedCase {
  readonly name: string;
  readonly failures: number;
  readonly measures: readonly (Comparison & {
    readonly name: string;
    readonly digits: number;
    readonly pairs: readonly Pair[];
  })[];
}

export function compareCase(
  { name, measures = defaultMeasures }: Case,
  pairs: readonly Record<Side, Measurement>[],
): ComparedCase {
  return {
    name,
    failures: pairs.reduce(
      (sum, { checkout, commit }) => sum + checkout.failures + commit.failures,
      0,
    ),
    measures: measures.map(({ name, digits, of }) => {
      const figures = pairs.map(({ checkout, commit }) => ({
        checkout: of(checkout),
        commit: of(commit),
      }));
      return { name, digits, ...compare(figures), pairs: figures };
    }),
  };
}

/**
 * Prints the results as a table.
 * @param names for the head of the table: "checkout" or the abbreviated hash of a commit
 * @param idle resident memory of each version's server before the first case of each pair, in MiB
 */
export function printTable(
  names: Readonly<Record<Side, string>>,
  compared: readonly ComparedCase[],
  idle: readonly Pair[],
): void {
  console.log(
    `\n| case | measure | ${names.checkout} | ${names.commit} | ratio | interval | confidence | narrower than ±3 % | pairs | failures |`,
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const { name, failures, measures } of compared) {
    for (const one of measures) {
      const cells = [
        name,
        one.name,
        one.checkout.toFixed(one.digits),
        one.commit.toFixed(one.digits),
        one.ratio.toFixed(3),
        `${one.low.toFixed(3)}–${one.high.toFixed(3)}`,
        `${(one.confidence * 100).toFixed(0)} %`,
        `${one.narrow ? "yes" : "no"}: ±${(((one.high - one.low) / 2 / one.ratio) * 100).toFixed(1)} %`,
        String(one.pairs.length),
        String(failures),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
  }
  console.log(
    `\nRatios are ${names.checkout} divided by ${names.commit}, the median of the pairs. ` +
      `If ${names.checkout} is faster, it has more requests/s, and less CPU and latency.`,
  );
  const idleMiB = (side: Side) => median(idle.map((pair) => pair[side])).toFixed(0);
  console.log(
    `\nIdle servers: ${names.checkout} ${idleMiB("checkout")} MiB, ${names.commit} ${idleMiB("commit")} MiB, medians.`,
  );
}
