import { memo, useEffect, useEffectEvent } from "react";
import { useWorkspace } from "../../data/index.ts";
import { allSteps, isEnded, useTranscript } from "../../runs/index.ts";
import { LongText, Skeleton } from "../../ui/index.ts";
import { Answer } from "./answer.tsx";
import { FollowProblem } from "./follow-problem.tsx";
import { TurnFooter } from "./turn-footer.tsx";
import type { Turn } from "./use-turns.ts";

interface TurnViewProps {
  readonly turn: Turn;
  /**
   * True if this page has just started the run. False after a reset (see `useResets`): the run can
   * have ended before the stream is opened again, so the run is read first.
   */
  readonly isNew: boolean;
  readonly compareHref: string | undefined;
  /**
   * Called with `true` when the run becomes active. Called with `false` when it has ended, and when
   * the page can no longer follow it. It must be the same function in each rendering, because the
   * turn is memoized.
   */
  readonly onRunning: (runId: string, isRunning: boolean) => void;
}

/**
 * A message and the answer of the run that it has started. It is memoized, so that not all turns
 * are rendered for each character of the next message.
 */
export const TurnView = memo(Content);

function Content({ turn, isNew, compareHref, onRunning }: TurnViewProps) {
  const { runId, input } = turn;
  const { id } = useWorkspace();
  const followed = useTranscript(runId, isNew);
  const { transcript, run, isLost, error } = followed;
  const runHref = `/w/${id}/runs/${runId}`;
  const isRunning = !isEnded(transcript) && !isLost && error === null;
  const report = useEffectEvent((isGoingOn: boolean) => onRunning(runId, isGoingOn));
  useEffect(() => {
    report(isRunning);
    return () => report(false);
  }, [isRunning]);
  const text = input ?? run?.input;
  // Only the response to an invoke is the stream of its run. To other runs, this page subscribes
  // after their start, and a stream does not repeat what the model has written.
  const isSubscribedLate = turn.isDraft === true || !isNew;
  const isSilent =
    isRunning && transcript.status === "running" && allSteps(transcript).length === 0;
  return (
    <article aria-label={`Run ${runId}`} className="flex min-w-0 flex-col gap-3">
      <div className="flex min-w-0 flex-col rounded-control bg-well px-3 py-2">
        <span className="sr-only">Message: </span>
        {text === undefined ? <Skeleton width={60} /> : <LongText text={text} />}
      </div>
      <Answer transcript={transcript} runHref={runHref} />
      {isSubscribedLate && isSilent ? (
        <p className="text-ink-2">
          The run started before this page could read it, so what the model writes first may not be
          shown word by word. It appears when the step is done.
        </p>
      ) : null}
      <FollowProblem followed={followed} />
      <TurnFooter turn={turn} runHref={runHref} followed={followed} compareHref={compareHref} />
    </article>
  );
}
