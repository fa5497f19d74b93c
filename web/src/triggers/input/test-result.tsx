import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { failureWords, isOutcomeUnknown, useWorkspace } from "../../data/index.ts";
import { firstLine } from "../../format/index.ts";
import { isEnded, patched, runQuery, useLiveRuns } from "../../runs/index.ts";
import { Link, Problem, StatusMark } from "../../ui/index.ts";
import type { useTestTrigger } from "./use-test-trigger.ts";

/** The result of a test: the state of its run as it changes, then the output. */
export function TestResult({ test }: { readonly test: ReturnType<typeof useTestTrigger> }) {
  // Subscribes before the test is sent, because the run can end before the response has arrived.
  const live = useLiveRuns(test.runId === undefined ? [] : [{ id: test.runId, finished_at: null }]);
  const { error } = test;
  if (error !== null) {
    const { title, description } = failureWords(
      error,
      "The test was not sent.",
      "the test has started a run",
      "Send the same test again: it starts one run only.",
    );
    return <Problem error={isOutcomeUnknown(error) ? description : error} title={title} />;
  }
  return (
    <div role="status">
      {test.runId === undefined ? null : <TestRun runId={test.runId} live={live} />}
    </div>
  );
}

interface TestRunProps {
  readonly runId: string;
  readonly live: ReturnType<typeof useLiveRuns>;
}

function TestRun({ runId, live }: TestRunProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { data: read } = useQuery(runQuery(workspace, runId));
  const run = read && patched(read, live);
  // The events of the workspace's stream contain no output, so the run is refetched once it has
  // ended.
  const lacksOutput = run !== undefined && isEnded(run) && !isEnded(read ?? run);
  useEffect(() => {
    if (lacksOutput)
      void queryClient.invalidateQueries({ queryKey: runQuery(workspace, runId).queryKey });
  }, [lacksOutput, queryClient, workspace, runId]);
  if (run === undefined) return null;
  const outcome = run.error?.message ?? run.output;
  return (
    <div className="flex min-w-0 flex-col gap-1 rounded-control border border-rule px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3">
        <span className="flex-1">
          <StatusMark status={run.status} />
        </span>
        <Link href={`/w/${workspace.id}/runs/${run.id}`}>Open the run</Link>
      </div>
      {isEnded(run) && outcome !== null ? (
        <p dir="auto" className="truncate text-ink-2" title={firstLine(outcome)}>
          {firstLine(outcome)}
        </p>
      ) : null}
    </div>
  );
}
