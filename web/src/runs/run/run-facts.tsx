import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Badge, Button, CopyButton, Fact, Facts, Id, Link, Time, Tokens } from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import { sourceLabel } from "../source-label.ts";
import type { Cost } from "./cost.ts";
import { CostFact } from "./cost-fact.tsx";
import { triggerQuery, versionQuery } from "./journal/queries.ts";
import { useRunSearch } from "./run-search.ts";

interface RunFactsProps {
  readonly run: Run;
  readonly agentName: string;
  /** Token usage of the model calls so far; of the whole run once it has ended. */
  readonly usage: Run["usage"];
  /**
   * Cost of the model calls so far; of the whole run once it has ended. Undefined while the calls
   * so far are not all known.
   */
  readonly cost: Cost | undefined;
  /** `narrow` is for phones. It shows the most urgent facts, and the others on request. */
  readonly layout: "wide" | "narrow";
}

type FactName =
  | "agent"
  | "source"
  | "retryOf"
  | "version"
  | "attempt"
  | "tokens"
  | "cost"
  | "created"
  | "ended"
  | "externalId"
  | "tags";

const wide: readonly FactName[] = [
  ...(["agent", "source", "retryOf", "version", "attempt", "tokens", "cost"] as const),
  ...(["created", "ended", "externalId", "tags"] as const),
];
const first: readonly FactName[] = [
  ...(["created", "source", "version", "attempt", "cost", "tokens", "retryOf"] as const),
];
const rest: readonly FactName[] = ["agent", "ended", "externalId", "tags"];

/** The facts of a run: its origin, its usage and its times. */
export function RunFacts({ layout, ...props }: RunFactsProps) {
  const facts = useFacts(props);
  const listed = (names: readonly FactName[]) =>
    names.map((name) => <Fragment key={name}>{facts[name]}</Fragment>);
  if (layout === "wide") return <Facts>{listed(wide)}</Facts>;
  return (
    <div className="flex min-w-0 flex-col rounded-control border border-rule bg-sheet px-4 pt-3 pb-1">
      <Facts layout="grid">{listed(first)}</Facts>
      <details className="group min-w-0">
        <summary className="flex h-control w-fit list-none items-center gap-1 rounded-bar text-dense text-ink-2 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="text-ink-3 transition-transform group-open:rotate-90"
          />
          More facts
        </summary>
        <div className="pb-2">
          <Facts layout="grid">{listed(rest)}</Facts>
        </div>
      </details>
    </div>
  );
}

/** Returns all facts as elements; null for a fact that the run does not have. */
function useFacts(props: Omit<RunFactsProps, "layout">): Readonly<Record<FactName, ReactNode>> {
  const { run, agentName, usage, cost } = props;
  const workspace = useWorkspace();
  const { change } = useRunSearch();
  const { data: version } = useQuery(versionQuery(workspace, run.agent_id, run.agent_version));
  const { external_id: externalId, tags, retry_of: retryOf } = run;
  // The limits of a draft run can differ from those of the version, and the API does not show them.
  const hasLimits = version !== undefined && run.source !== "draft";
  const of = hasLimits ? ` of ${version.limits.max_attempts}` : "";
  const path = `/w/${workspace.id}`;
  return {
    agent: (
      <Fact label="Agent">
        <span className="max-w-60 truncate" title={agentName} dir="auto">
          <Link href={`${path}/agents/${run.agent_id}`}>{agentName}</Link>
        </span>
      </Fact>
    ),
    source: (
      <Fact label="Source">
        <Source run={run} />
      </Fact>
    ),
    retryOf:
      retryOf === null ? null : (
        <Fact label="Retry of">
          <Link href={`${path}/runs/${retryOf}`}>
            <Id value={retryOf} />
          </Link>
          <Button size="small" variant="quiet" onClick={() => change({ compare: true }, "push")}>
            Compare<span className="sr-only"> with the earlier run</span>
          </Button>
        </Fact>
      ),
    version: (
      <Fact label="Version">
        <Link href={`${path}/agents/${run.agent_id}/versions?to=${run.agent_version}`}>
          {String(run.agent_version)}
        </Link>
        {run.source === "draft" ? <span className="text-ink-2">with unsaved changes</span> : null}
      </Fact>
    ),
    attempt: <Fact label="Attempt">{`${run.attempt}${of}`}</Fact>,
    tokens: (
      <Fact label={usage.estimated ? "Tokens, estimated" : "Tokens"}>
        <Tokens
          input={usage.input_tokens}
          output={usage.output_tokens}
          estimated={usage.estimated}
        />
      </Fact>
    ),
    cost:
      cost === undefined ? (
        <Fact label="Cost so far">
          <span className="text-ink-3">–</span>
        </Fact>
      ) : (
        <CostFact
          label={isEnded(run) ? "Cost" : "Cost so far"}
          cost={cost}
          estimated={usage.estimated}
        />
      ),
    created: (
      <Fact label="Created">
        <Time value={run.created_at} />
      </Fact>
    ),
    ended:
      run.finished_at === null ? null : (
        <Fact label="Ended">
          <Time value={run.finished_at} />
        </Fact>
      ),
    externalId:
      externalId === null ? null : (
        <Fact label="External id">
          <span className="max-w-80 truncate font-mono text-dense" title={externalId} dir="auto">
            {externalId}
          </span>
          <CopyButton text={externalId} what="external id" />
        </Fact>
      ),
    tags:
      tags.length === 0 ? null : (
        <Fact label="Tags">
          <span className="flex flex-wrap gap-1">
            {tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>
        </Fact>
      ),
  };
}

function Source({ run }: { readonly run: Run }) {
  const workspace = useWorkspace();
  const { data: trigger } = useQuery(triggerQuery(workspace, run.agent_id, run.trigger_id));
  if (run.trigger_id === null) return sourceLabel(run.source);
  return (
    <span className="flex min-w-0 items-center gap-1">
      {sourceLabel(run.source)}
      <span className="max-w-60 truncate" title={trigger?.name} dir="auto">
        <Link href={`/w/${workspace.id}/agents/${run.agent_id}/triggers/${run.trigger_id}`}>
          {trigger?.name ?? <Id value={run.trigger_id} />}
        </Link>
      </span>
    </span>
  );
}
