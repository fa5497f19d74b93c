import type { Pool } from "pg";
import { wrongWithLedger } from "../ledger.ts";
import type { Plan, World } from "./world.ts";

/** The entries of one run in the usage ledger. */
interface MeteredRun {
  readonly id: string;
  readonly payload: string;
  readonly entries: readonly {
    readonly outcome: "answered" | "failed" | "lost";
    readonly input: number;
    readonly output: number;
    readonly estimated: boolean;
  }[];
}

/** The result of the check: violations, and the number of entries with each outcome. */
export interface UsageReport {
  /** One line for each violation. */
  readonly broken: readonly string[];
  readonly answered: number;
  readonly failed: number;
  readonly lost: number;
}

/**
 * Compares the usage ledger with the usage that the model reported: each entry with the outcome
 * `answered` has exactly the usage of one answer, and no answer has two entries. An answer without
 * an entry was lost with its process, so its run has an entry with the outcome `lost`, marked as an
 * estimate. The sums of the entries must equal the sums in the journal, in the results of runs and
 * in the sums by day.
 */
export async function checkUsage(
  pool: Pick<Pool, "query">,
  { reported, modelCalls }: Pick<World, "reported" | "modelCalls">,
): Promise<UsageReport> {
  const { rows } = await pool.query<MeteredRun>(
    `select i.run_id as id, i.payload, coalesce(json_agg(json_build_object('outcome', e.outcome,
        'input', e.input_tokens, 'output', e.output_tokens, 'estimated', e.estimated))
        filter (where e.run_id is not null), '[]') as entries
      from run_inputs i left join usage_entries e on e.run_id = i.run_id
      group by i.run_id, i.payload`,
  );
  const nonceOf = ({ payload }: MeteredRun) => (JSON.parse(payload) as Plan).nonce;
  const stored = new Set(rows.map(nonceOf));
  const count = (outcome: string) =>
    rows.flatMap((run) => run.entries.filter((entry) => entry.outcome === outcome)).length;
  return {
    broken: [
      ...(await wrongWithLedger(pool)),
      ...[...reported.keys()]
        .filter((nonce) => !stored.has(nonce))
        .map((nonce) => `${nonce}: the model answered, and there is no run`),
      ...rows.flatMap((run) => {
        const nonce = nonceOf(run);
        const { made = 0, failed = 0 } = modelCalls.get(nonce) ?? {};
        return wrongWithRun(run, reported.get(nonce) ?? [], made - failed).map(
          (what) => `${run.id}: ${what}`,
        );
      }),
    ],
    answered: count("answered"),
    failed: count("failed"),
    lost: count("lost"),
  };
}

function wrongWithRun(
  { entries }: MeteredRun,
  reported: readonly { readonly input: number; readonly output: number }[],
  answers: number,
): string[] {
  const wrong: string[] = [];
  const left = new Set(reported.map(({ input, output }) => `${input} in, ${output} out`));
  const of = (outcome: string) => entries.filter((entry) => entry.outcome === outcome);
  for (const { input, output, estimated } of of("answered")) {
    const usage = `${input} in, ${output} out`;
    if (!left.delete(usage)) wrong.push(`${usage} was not reported, or has two entries`);
    if (estimated) wrong.push(`${usage} was reported, and is marked as estimated`);
  }
  const lost = of("lost");
  if (left.size > lost.length)
    wrong.push(`${left.size} answers have no entry, and ${lost.length} calls are lost`);
  if (lost.some(({ estimated, input }) => !estimated || input === 0))
    wrong.push("a lost call is not an estimate");
  const billed = of("answered").length + lost.length;
  if (answers > billed)
    wrong.push(`the model answered ${answers} times, and ${billed} entries are billed`);
  return wrong;
}
