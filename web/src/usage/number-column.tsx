import { formatCount } from "../format/index.ts";
import type { Column } from "../ui/index.ts";
import type { Amounts } from "./measure.ts";

type AmountsColumn = Column<{ readonly amounts: Amounts }>;

/** Returns a column of counts. `width` and `from` are those of the column. */
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
