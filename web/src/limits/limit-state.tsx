import { Time } from "../ui/index.ts";
import { Meter } from "./meter.tsx";

interface LimitStateProps {
  /** The used amount; null if it is unknown. */
  readonly used: number | null;
  /** True if a part of the used amount is unknown, so `used` is a lower bound. Default: false. */
  readonly isPartial?: boolean;
  /** The word for the used part, for example "spent". */
  readonly usedWord: string;
  readonly reserved: number;
  /** The limit; null if there is none, in which case no bar is shown. */
  readonly limit: number | null;
  /** Amount left of the limit; null if there is no limit. */
  readonly left: number | null;
  /** Whether the limit is used up, or a call did not fit into what is left. */
  readonly isReached: boolean;
  readonly resetsAt: string;
  /** Formats the limit. */
  readonly format: (limit: number) => string;
  /** Returns the function that formats the other amounts. */
  readonly beside: (limit: number | null, amounts: readonly number[]) => (amount: number) => string;
}

/** The used, reserved and remaining parts of a limit: as a bar, and in words. */
export function LimitState(props: LimitStateProps) {
  const { used, isPartial = false, usedWord, reserved, limit, left, isReached } = props;
  const { resetsAt, format, beside } = props;
  const formatPart = beside(limit, [used ?? 0, reserved, left ?? 0]);
  const parts = [
    used === null ? "unknown" : `${isPartial ? "at least " : ""}${formatPart(used)} ${usedWord}`,
    ...(reserved === 0 ? [] : [`${formatPart(reserved)} reserved`]),
    left === null ? "unlimited" : `${formatPart(left)} left`,
  ];
  const notes = isReached && left !== 0 ? ["a call did not fit"] : [];
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {limit === null ? null : (
        <Meter
          label={[`${parts.join(", ")} of ${format(limit)}`, ...notes].join(", ")}
          used={used ?? 0}
          reserved={reserved}
          limit={limit}
          isReached={isReached}
        />
      )}
      <p className="flex min-w-0 flex-wrap justify-between gap-x-3 text-label text-ink-2">
        <span>{[...parts, ...notes].join(" · ")}</span>
        <span className="whitespace-nowrap">
          {limit === null ? null : `of ${format(limit)}, `}resets <Time value={resetsAt} />
        </span>
      </p>
    </div>
  );
}
