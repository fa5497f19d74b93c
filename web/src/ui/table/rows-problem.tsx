import { Problem } from "../feedback/problem.tsx";
import { useAsOf } from "../text/as-of.ts";
import { type RowsQuery, retry } from "./rows-query.ts";

interface RowsProblemProps {
  /** What the rows are: "Runs". */
  readonly label: string;
  readonly query: RowsQuery;
  /** True if rows are shown below: those that were read before the error. */
  readonly hasRows: boolean;
  /** `none` is for errors outside of a panel. Default: normal. */
  readonly padding?: "normal" | "none";
}

/**
 * Says that rows could not be loaded and, if some are shown, whether they are old or not all.
 * Without an error, nothing is shown.
 */
export function RowsProblem({ label, query, hasRows, padding = "normal" }: RowsProblemProps) {
  const { error, dataUpdatedAt } = query;
  const asOf = useAsOf(dataUpdatedAt);
  if (error === undefined || error === null) return null;
  const title = hasRows ? titleOf(query, asOf) : `${label} could not be loaded.`;
  return (
    <div className={padding === "normal" ? "p-4" : ""}>
      <Problem error={error} title={title} onRetry={() => retry(query)} />
    </div>
  );
}

/** Returns the title of an error above the rows. */
function titleOf(query: RowsQuery, asOf: string): string {
  if (query.isFetchNextPageError === true) return "The rest could not be loaded.";
  return asOf === "" ? "These rows may be out of date." : `These rows are as of ${asOf}.`;
}
