import type { Run } from "@beckon/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useState } from "react";
import { agentQuery } from "../../agents/index.ts";
import { useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import type { RunStreamState } from "../../live/index.ts";
import {
  Badge,
  Banner,
  CopyButton,
  Duration,
  Id,
  LinkButton,
  PageHeader,
  StatusMark,
  useMedia,
} from "../../ui/index.ts";
import { CompareRuns } from "../compare/compare-runs.tsx";
import { isEnded, lacksState } from "../patch-run.ts";
import { runQuery } from "../queries.ts";
import { RunProblem } from "../run-problem.tsx";
import { costOfRun } from "./cost.ts";
import { usageSoFar } from "./journal/entries.ts";
import { RunStream } from "./journal/run-stream.tsx";
import { StreamNotice } from "./journal/stream-notice.tsx";
import { useJournal } from "./journal/use-journal.ts";
import { useSilence } from "./journal/use-silence.ts";
import { RunActions } from "./run-actions.tsx";
import { RunContents } from "./run-contents.tsx";
import { RunFacts } from "./run-facts.tsx";
import { useRunSearch } from "./run-search.ts";
import { runTimeOf } from "./run-time.ts";
import { Steps } from "./steps.tsx";
import { useClock } from "./use-clock.ts";

interface RunPageProps {
  readonly run: Run;
  /** Says that the run may have changed or was deleted. */
  readonly notice: ReactNode;
}

/** The page of a run, once the run is loaded. */
export function RunPage({ run, notice }: RunPageProps) {
  const workspace = useWorkspace();
  const { data: agent } = useQuery(agentQuery(workspace, run.agent_id));
  const { journal, output, error, refetch, receive, isFollowed, after } = useJournal(run.id);
  const [stream, setStream] = useState<RunStreamState>("connecting");
  const [subscription, setSubscription] = useState(0);
  const { compare, change } = useRunSearch();
  const isNarrow = !useMedia("(min-width: 768px)");
  const hasEnded = isEnded(run);
  const cache = useQueryClient();
  // The run and its journal are read at the same time, and the run is refetched while events
  // arrive, so it can be older than the journal. No later event would then update it, so it is
  // refetched.
  const isOlder = useMemo(
    () => journal.isComplete && lacksState(run, journal.events),
    [run, journal],
  );
  useEffect(() => {
    if (isOlder) void cache.invalidateQueries({ queryKey: runQuery(workspace, run.id).queryKey });
  }, [isOlder, cache, workspace, run.id]);
  // False during the first rendering, so that the steps are painted before the content below them
  // is rendered.
  const isPainted = useDeferredValue(true, false);
  const now = useClock(!hasEnded);
  const silence = useSilence({ isLive: stream === "live", output, journal, now });
  const time = runTimeOf(run, now);
  const name = agent?.name ?? shortenId(run.agent_id);
  const facts = (
    <RunFacts
      run={run}
      agentName={name}
      // While the journal is being read, it has only a part of the calls.
      usage={hasEnded || !journal.isComplete ? run.usage : usageSoFar(journal)}
      cost={hasEnded || journal.isComplete ? costOfRun(run, journal.events) : undefined}
      layout={isNarrow ? "narrow" : "wide"}
    />
  );
  return (
    <div className="flex min-w-0 flex-col">
      <title>{`${name}, run ${run.status} · Beckon`}</title>
      {isFollowed ? (
        <RunStream
          key={subscription}
          runId={run.id}
          after={after}
          onEvents={receive}
          onState={setStream}
        />
      ) : null}
      <PageHeader
        title={name}
        breadcrumb={[{ label: "Runs", href: `/w/${workspace.id}/runs` }]}
        id={
          <>
            <Id value={run.id} />
            <CopyButton text={run.id} what="run id" />
          </>
        }
        status={
          <>
            <StatusMark status={run.status} />
            {time === undefined ? null : (
              <span>
                {time.isWaiting ? "for " : null}
                <Duration ms={time.ms} />
              </span>
            )}
            {isFollowed && stream === "live" ? <Badge tone="tide">Live</Badge> : null}
          </>
        }
        actions={<RunActions run={run} />}
      >
        {isNarrow ? null : facts}
      </PageHeader>
      <p role="status" className="sr-only">{`Run ${run.status}`}</p>
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        {notice}
        {run.error === null ? null : (
          <section aria-label="Why the run ended">
            <RunProblem
              error={run.error}
              reached={run.limit === null ? undefined : { limit: run.limit, agentId: run.agent_id }}
              settingsHref={`/w/${workspace.id}/agents/${run.agent_id}/settings`}
              isState
            />
          </section>
        )}
        {run.status === "waiting" ? (
          <Banner
            tone="warning"
            action={
              <LinkButton href={`/w/${workspace.id}/agents/${run.agent_id}`} size="small">
                Open the agent
              </LinkButton>
            }
          >
            This run is held. It is queued when its agent is resumed, or when the spent limit is
            reset or raised. After 7 days it is cancelled.
          </Banner>
        ) : null}
        {isNarrow ? facts : null}
        {isFollowed ? (
          <StreamNotice state={stream} onRetry={() => setSubscription(subscription + 1)} />
        ) : null}
        <Steps
          run={run}
          journal={journal}
          error={error}
          onRetry={refetch}
          output={output}
          silence={silence}
          now={now}
        />
        {/* The height of the steps depends on their number. What is below them would move when they
            arrive, so it is shown only afterwards. */}
        {!isPainted || (hasEnded && journal.events.length === 0 && error === null) ? null : (
          <RunContents run={run} journal={journal} />
        )}
      </div>
      {compare && run.retry_of !== null ? (
        <CompareRuns
          earlier={run.retry_of}
          later={run.id}
          onClose={() => change({ compare: false }, "close")}
        />
      ) : null}
    </div>
  );
}
