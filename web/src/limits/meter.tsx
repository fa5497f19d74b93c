import { useId } from "react";

interface MeterProps {
  /** The content of the bar in words, with its numbers. Screen readers read only this text. */
  readonly label: string;
  readonly used: number;
  /** The amount that is reserved for runs but not used yet. It is hatched in the bar. */
  readonly reserved: number;
  readonly limit: number;
  readonly isReached: boolean;
}

/** If at least this share of a limit is used, the bar has the colour of a warning. */
const near = 0.8;

/** A bar with the used, reserved and remaining parts of a limit. */
export function Meter({ label, used, reserved, limit, isReached }: MeterProps) {
  const hatch = useId();
  const part = (amount: number) => (limit === 0 ? 1 : Math.min(1, amount / limit));
  const usedPart = part(used);
  const reservedPart = Math.min(1 - usedPart, limit === 0 ? 0 : reserved / limit);
  const isFull = isReached || usedPart >= 1;
  const fill = isFull ? "fill-flare" : usedPart >= near ? "fill-brass" : "fill-chart-1";
  return (
    <svg role="img" aria-label={label} data-keeps-colour className="block h-2 w-full rounded-bar">
      <defs>
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse">
          <path d="M0 6L6 0" className="stroke-edge" strokeWidth="2" />
        </pattern>
      </defs>
      <rect width="100%" height="100%" className="fill-rule" />
      <rect width={percent(usedPart)} height="100%" className={fill} />
      <rect
        x={percent(usedPart)}
        width={percent(reservedPart)}
        height="100%"
        fill={`url(#${hatch})`}
      />
    </svg>
  );
}

const percent = (part: number) => `${(part * 100).toFixed(2)}%`;
