import { Time, useTextAtNow } from "../ui/index.ts";
import { attemptState } from "./attempt-state.ts";

/**
 * When a delivery is attempted: `in 5 min`. If the time can also be that of an attempt in progress
 * (see `attemptState`), the text is true in both cases: `in progress, or in 44 s`.
 */
export function NextAttempt({ time }: { readonly time: string }) {
  const state = useTextAtNow((nowMs) => attemptState(time, nowMs));
  if (state === "due") return <span>in progress, or due</span>;
  return (
    <span>
      {state === "near" ? "in progress, or " : null}
      <Time value={time} />
    </span>
  );
}
