import { formatPrice } from "../format/index.ts";

interface RateProps {
  /**
   * Micro-dollars for 1,000,000 tokens; null if these tokens cost as much as input; undefined if
   * the model has no price.
   */
  readonly micros: number | null | undefined;
  /** Whether any price is known for the model. If not, a dash is shown. */
  readonly isKnown: boolean;
}

/** A price for 1,000,000 tokens. */
export function Rate({ micros, isKnown }: RateProps) {
  if (!isKnown)
    return (
      <span className="text-ink-3">
        <span aria-hidden="true">–</span>
        <span className="sr-only">unknown</span>
      </span>
    );
  if (micros === null || micros === undefined) return <span className="text-ink-3">as input</span>;
  return <span className="font-mono text-dense whitespace-nowrap">{formatPrice(micros)}</span>;
}
