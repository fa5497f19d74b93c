import type { Trigger } from "@beckon/client";
import type { ReceivedRequestDetails } from "@beckon/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isNotFound, useWorkspace } from "../../data/index.ts";
import { runQuery } from "../../runs/index.ts";
import { EmptyState, Panel, Problem, SegmentedControl, Skeleton } from "../../ui/index.ts";
import { SeenParts } from "../receiving/seen-parts.tsx";
import { requestsKey } from "./queries.ts";

interface SeenPanelProps {
  readonly trigger: Trigger;
  readonly request: ReceivedRequestDetails;
}

const views = [
  { value: "then", label: "In its run" },
  { value: "now", label: "With the present settings" },
] as const;

/**
 * Shows what the model saw of a request, which is the input of its run, and what it would see now
 * with the current settings.
 */
export function SeenPanel({ trigger, request }: SeenPanelProps) {
  const hasRun = request.run_id !== null;
  const [chosen, setChosen] = useState<"then" | "now">("then");
  const view = hasRun ? chosen : "now";
  const canPreview = request.body !== null;
  const hasSeen = request.outcome === "started" || request.outcome === "repeated";
  return (
    <Panel
      title={
        view === "now"
          ? "What the model would see"
          : hasSeen
            ? "What the model saw"
            : "Input of its run"
      }
    >
      <div className="flex min-w-0 flex-col gap-3">
        {hasRun && canPreview ? (
          <div className="flex">
            <SegmentedControl label="Show" options={views} value={view} onChange={setChosen} />
          </div>
        ) : null}
        {view === "then" && request.run_id !== null ? (
          <InputOfRun runId={request.run_id} />
        ) : canPreview ? (
          <InputNow trigger={trigger} requestId={request.id} />
        ) : (
          <p className="text-ink-2">There is no preview, because the body is not stored.</p>
        )}
      </div>
    </Panel>
  );
}

function InputOfRun({ runId }: { readonly runId: string }) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(runQuery(workspace, runId));
  if (data !== undefined) return <SeenParts parts={[{ kind: "message", text: data.input }]} />;
  if (error === null) return <Loading />;
  if (isNotFound(error)) return <EmptyState>The run was deleted or is no longer kept.</EmptyState>;
  return <Problem error={error} title="The run could not be loaded." onRetry={refetch} />;
}

function InputNow({ trigger, requestId }: Pick<SeenPanelProps, "trigger"> & { requestId: string }) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [...requestsKey(workspace.id, trigger), "preview", requestId],
    queryFn: ({ signal }) =>
      workspace.client.triggers.preview(
        trigger.agent_id,
        trigger.id,
        { request: { request_id: requestId } },
        { signal },
      ),
    staleTime: 0,
  });
  if (error !== null)
    return <Problem error={error} title="The preview could not be made." onRetry={refetch} />;
  if (data === undefined) return <Loading />;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {data.passes === false ? (
        <p className="text-ink-2">The present filter does not let it pass.</p>
      ) : null}
      {data.mistakes.map(({ part, line, message }) => (
        <p key={`${part} ${message}`} role="alert" className="break-words text-flare">
          {`${part === "filter" ? "Filter" : "Message template"}${line === null ? "" : `, line ${line}`}: ${message}`}
        </p>
      ))}
      {data.input === null ? null : <SeenParts parts={data.parts} marked />}
    </div>
  );
}

function Loading() {
  return (
    <div className="h-30" aria-busy="true">
      <Skeleton width={80} />
      <Skeleton width={60} />
    </div>
  );
}
