import type { Agent, ListedRun } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { firstLine } from "../../format/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { isNewRun, patched, useLiveRuns } from "../../runs/index.ts";
import { LinkButton, Panel, Problem, Skeleton, StatusMark, Time } from "../../ui/index.ts";
import { lastCallQuery } from "./queries.ts";

/**
 * Minimum time in milliseconds between two requests for the last call. Without it, an agent that is
 * called often would cause a request for each call.
 */
const readIntervalMs = 2_000;

/**
 * Waits for the first call, then shows the last one. Messages in the playground invoke the agent
 * too, and the API does not tell them from the calls of a program.
 */
export function FirstCall({ agent }: { readonly agent: Agent }) {
  const workspace = useWorkspace();
  const { data: read, error, refetch } = useQuery(lastCallQuery(workspace, agent.id));
  const live = useLiveRuns(read ? [read] : []);
  const call = read && patched(read, live);
  const [hasWaited, setHasWaited] = useState(false);
  if (call === null && !hasWaited) setHasWaited(true);
  const readAgain = useThrottled(() => refetch(), readIntervalMs);
  useEvents((events) => {
    if (events.some((event) => event.agent_id === agent.id && isNewRun(event))) readAgain();
  });
  return (
    <Panel title={hasWaited ? "First call" : "Last call"}>
      <div className="flex min-w-0 flex-col gap-3">
        <div role="status">
          {hasWaited && call ? <StatusMark status="succeeded" word="A call arrived" /> : null}
          {call === null ? (
            <StatusMark status="listening" word="Waiting for the first call" />
          ) : null}
        </div>
        {call ? (
          <CallFacts call={call} workspaceId={workspace.id} />
        ) : error !== null ? (
          <Problem error={error} title="Calls could not be loaded." onRetry={refetch} />
        ) : call === null ? (
          <p className="text-dense text-ink-2">
            Run a snippet: its call appears here as soon as it arrives.
          </p>
        ) : (
          <>
            <Skeleton width={60} />
            <Skeleton width={80} />
          </>
        )}
        {call === undefined ? null : (
          <p className="text-dense text-ink-2">Messages in the playground count too.</p>
        )}
      </div>
    </Panel>
  );
}

interface CallFactsProps {
  readonly call: ListedRun;
  readonly workspaceId: string;
}

function CallFacts({ call, workspaceId }: CallFactsProps) {
  const input = firstLine(call.input);
  return (
    <>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <dt className="text-ink-3">Outcome</dt>
        <dd>
          <StatusMark status={call.status} />
        </dd>
        <dt className="text-ink-3">Received</dt>
        <dd>
          <Time value={call.created_at} />
        </dd>
        <dt className="text-ink-3">Input</dt>
        <dd dir="auto" className="truncate" title={input}>
          {input}
        </dd>
      </dl>
      <div className="flex">
        <LinkButton href={`/w/${workspaceId}/runs/${call.id}`}>Open the run</LinkButton>
      </div>
    </>
  );
}
