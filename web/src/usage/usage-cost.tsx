import { Money } from "../ui/index.ts";
import { type Amounts, unknownReason } from "./measure.ts";

/** A cost: `≥ $1.20` if a part of it is unknown, or "unknown". Hover shows the reason. */
export function UsageCost({ amounts }: { readonly amounts: Amounts }) {
  const reason = unknownReason(amounts);
  const { cost_micros: micros, estimated_entries: estimated } = amounts;
  const cost = <Money micros={micros} estimated={estimated > 0} unknownReason={reason} />;
  if (reason === undefined || micros === null) return cost;
  return (
    <span title={reason} className="whitespace-nowrap">
      <span className="sr-only">at least </span>
      <span aria-hidden="true" className="text-ink-3">
        ≥{" "}
      </span>
      {cost}
    </span>
  );
}
