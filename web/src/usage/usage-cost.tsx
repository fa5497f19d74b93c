import { Money } from "../ui/index.ts";
import { type Amounts, unknownReason } from "./measure.ts";

/** A cost: `≥ $1.20` if a part of it is unknown, or "unknown". Hover shows the reason. */
export function UsageCost({ amounts }: { readonly amounts: Amounts }) {
  const reason = unknownReason(amounts);
  if (reason === undefined || amounts.cost_micros === null)
    return <Money micros={amounts.cost_micros} unknownReason={reason} />;
  return (
    <span title={reason} className="whitespace-nowrap">
      <span className="sr-only">at least </span>
      <span aria-hidden="true" className="text-ink-3">
        ≥{" "}
      </span>
      <Money micros={amounts.cost_micros} />
    </span>
  );
}
