import { formatCount } from "../format/index.ts";
import type { Column } from "../ui/index.ts";
import type { Amounts } from "./measure.ts";

type AmountsColumn = Column<{ readonly amounts: Amounts }>;

/**
 * Returns a column of counts.
 * @param width in px
 * @param from the minimum window width for the column; undefined if it is always shown
 */
export function numberColumn(
  id: string,
  header: string,
  width: number,
  from: AmountsColumn["from"],
  amountOf: (amounts: Amounts) => number,
): AmountsColumn {
  return {
    id,
    header,
    width,
    from,
    align: "end",
    cell: ({ amounts }) => (
      <span className="font-mono text-dense">{formatCount(amountOf(amounts))}</span>
    ),
  };
}
