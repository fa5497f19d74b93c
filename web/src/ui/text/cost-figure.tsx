import { formatMoney } from "../../format/index.ts";
import { Estimated } from "./estimated.tsx";

interface CostFigureProps {
  /** Micro-dollars; null if unknown. */
  readonly micros: number | null;
  /** Whether a part of the cost is unknown, so that the whole cost is at least `micros`. */
  readonly isPartial: boolean;
  /** Marks an estimate, as of `Money`. */
  readonly isEstimated: boolean;
}

/** A cost as a large figure: `≥ $1.20` if a part of it is unknown, or "unknown". */
export function CostFigure({ micros, isPartial, isEstimated }: CostFigureProps) {
  if (micros === null) return <span className="text-ink-3">unknown</span>;
  return (
    <>
      {isPartial ? (
        <>
          <span className="sr-only">at least </span>
          <span aria-hidden="true" className="pr-2 text-ink-3">
            ≥
          </span>
        </>
      ) : null}
      {isEstimated ? <Estimated text={formatMoney(micros)} /> : <span>{formatMoney(micros)}</span>}
    </>
  );
}
