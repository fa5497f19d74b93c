import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect, useEffectEvent } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useEvents } from "../../live/index.ts";
import { isMove, runQuery } from "../../runs/index.ts";
import { IconButton, Id, Link, Problem, Skeleton, StatusMark } from "../../ui/index.ts";

interface EarlierRunProps {
  readonly runId: string;
  /** Called with the input of the run when it has loaded. */
  readonly onInput: (input: string) => void;
  readonly onDismiss: () => void;
}

/**
 * Shows an earlier run, and passes its input on. Until the person dismisses it, each turn that has
 * ended has a link that compares it with the earlier run.
 */
export function EarlierRun({ runId, onInput, onDismiss }: EarlierRunProps) {
  const workspace = useWorkspace();
  // Nothing updates the cached run while no screen shows it.
  const { data: run, error, refetch } = useQuery({ ...runQuery(workspace, runId), staleTime: 0 });
  useEvents((events) => {
    if (events.some((event) => event.run_id === runId && isMove(event))) void refetch();
  });
  const fillIn = useEffectEvent(onInput);
  const input = run?.input;
  useEffect(() => {
    if (input !== undefined) fillIn(input);
  }, [input]);
  const forget = (
    <IconButton icon={X} label="Forget the earlier run" size="small" onClick={onDismiss} />
  );
  if (error !== null && run === undefined)
    return (
      <div className="flex min-w-0 items-start gap-2">
        <div className="min-w-0 flex-1">
          <Problem error={error} title="The earlier run could not be loaded." onRetry={refetch} />
        </div>
        {forget}
      </div>
    );
  return (
    <div className="flex min-h-control-small min-w-0 items-center gap-2 text-dense text-ink-2">
      {run === undefined ? (
        <Skeleton width={60} />
      ) : (
        <p className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2">
          <span>
            Earlier run:{" "}
            <Link href={`/w/${workspace.id}/runs/${runId}`}>
              <Id value={runId} />
            </Link>
          </span>
          <StatusMark status={run.status} />
          <span className="text-ink-3">
            {run.source === "draft" ? "Draft" : `v${run.agent_version}`}
          </span>
        </p>
      )}
      {forget}
    </div>
  );
}
