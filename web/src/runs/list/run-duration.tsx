import type { ListedRun } from "@beckon/client";
import { Duration, useNow } from "../../ui/index.ts";

/** Shows the duration of a run; of a run that has not ended, the time since its start. */
export function RunDuration({ run }: { readonly run: ListedRun }) {
  const { started_at, finished_at } = run;
  if (started_at === null) return <span className="text-ink-3">–</span>;
  if (finished_at === null) return <RunningDuration start={Date.parse(started_at)} />;
  return <Duration ms={Date.parse(finished_at) - Date.parse(started_at)} />;
}

/**
 * A separate component, so that the updates of `useNow` render only the durations of running runs
 * again.
 */
function RunningDuration({ start }: { readonly start: number }) {
  const now = useNow();
  // Whole seconds, because `now` changes only every five seconds.
  const seconds = Math.max(0, Math.floor((now - start) / 1_000));
  return seconds < 60 ? (
    <span className="font-mono text-dense whitespace-nowrap text-tide">{`${seconds} s`}</span>
  ) : (
    <span className="text-tide">
      <Duration ms={seconds * 1_000} />
    </span>
  );
}
