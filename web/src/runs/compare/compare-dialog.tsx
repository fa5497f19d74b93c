import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { Markdown } from "../../markdown/index.ts";
import {
  Badge,
  Dialog,
  Duration,
  Id,
  Link,
  Money,
  Problem,
  Skeleton,
  StatusMark,
  Tokens,
} from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import { runQuery } from "../queries.ts";
import { RunProblem } from "../run-problem.tsx";

/** Properties of `CompareDialog`. */
export interface CompareDialogProps {
  /** Id of the earlier run. */
  readonly earlier: string;
  readonly later: string;
  readonly onClose: () => void;
}

/** The outputs of two runs side by side. */
export function CompareDialog({ earlier, later, onClose }: CompareDialogProps) {
  const workspace = useWorkspace();
  const before = useQuery(runQuery(workspace, earlier)).data?.input;
  const now = useQuery(runQuery(workspace, later)).data?.input;
  return (
    <Dialog
      open
      size="large"
      onOpenChange={onClose}
      title="Compare with the earlier run"
      description={
        before === undefined || now === undefined || before === now
          ? "The same input, before and now."
          : "The answers before and now. The inputs differ."
      }
    >
      <div className="grid grid-cols-1 gap-6 sm:grid-cols-2">
        <Side title="Earlier" runId={earlier} />
        <Side title="Now" runId={later} />
      </div>
    </Dialog>
  );
}

function Side({ title, runId }: { readonly title: string; readonly runId: string }) {
  const workspace = useWorkspace();
  const { data: run, error, refetch } = useQuery(runQuery(workspace, runId));
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-col gap-1 border-b border-rule pb-2">
        <div className="flex items-center gap-2">
          <h3 className="text-section font-semibold">{title}</h3>
          <Link href={`/w/${workspace.id}/runs/${runId}`} variant="quiet">
            <Id value={runId} />
          </Link>
        </div>
        {run === undefined ? <Skeleton /> : <Facts run={run} />}
      </div>
      {error === null ? null : (
        <Problem error={error} title="The run could not be loaded." onRetry={refetch} />
      )}
      {run?.error ? <RunProblem error={run.error} isState /> : null}
      {run?.output ? <Markdown text={run.output} /> : null}
      {run?.output === "" ? <p className="text-ink-3">The answer is an empty text.</p> : null}
    </section>
  );
}

function Facts({ run }: { readonly run: Run }) {
  const { status, source, agent_version, usage, cost_micros, started_at, finished_at } = run;
  const ms =
    started_at === null || finished_at === null
      ? null
      : Date.parse(finished_at) - Date.parse(started_at);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-dense text-ink-3">
      <StatusMark status={status} />
      {source === "draft" ? <Badge tone="brass">Draft</Badge> : <Badge>v{agent_version}</Badge>}
      {isEnded(run) ? (
        <>
          <Tokens
            input={usage.input_tokens}
            output={usage.output_tokens}
            estimated={usage.estimated}
          />
          <span className="inline-flex items-baseline gap-1">
            Cost <Money micros={cost_micros} estimated={usage.estimated} />
          </span>
          <Duration ms={ms} />
        </>
      ) : null}
    </div>
  );
}
