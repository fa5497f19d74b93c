import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { Badge, Button, CopyButton, Id, Link, Money, Time, Tokens } from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import { sourceLabel } from "../source-label.ts";
import { Fact, Facts } from "./facts.tsx";
import { triggerQuery, versionQuery } from "./journal/queries.ts";
import { useRunSearch } from "./run-search.ts";

interface RunFactsProps {
  readonly run: Run;
  readonly agentName: string;
  /** Tokens of the model calls so far; those of the run once it has ended. */
  readonly usage: Run["usage"];
}

/** Where a run comes from, what it used, and when. */
export function RunFacts({ run, agentName, usage }: RunFactsProps) {
  const workspace = useWorkspace();
  const { change } = useRunSearch();
  const { data: version } = useQuery(versionQuery(workspace, run.agent_id, run.agent_version));
  const { external_id: externalId, tags } = run;
  const of = version === undefined ? "" : ` of ${version.limits.max_attempts}`;
  return (
    <Facts>
      <Fact label="Run">
        <Id value={run.id} />
        <CopyButton text={run.id} what="run id" />
      </Fact>
      <Fact label="Agent">
        <span className="max-w-60 truncate" title={agentName} dir="auto">
          <Link href={`/w/${workspace.id}/agents/${run.agent_id}`}>{agentName}</Link>
        </span>
      </Fact>
      <Fact label="Source">
        <Source run={run} />
      </Fact>
      {run.retry_of === null ? null : (
        <Fact label="Retry of">
          <Link href={`/w/${workspace.id}/runs/${run.retry_of}`}>
            <Id value={run.retry_of} />
          </Link>
          <Button size="small" variant="quiet" onClick={() => change({ compare: true }, "push")}>
            Compare<span className="sr-only"> with the earlier run</span>
          </Button>
        </Fact>
      )}
      <Fact label="Version">
        <Link
          href={`/w/${workspace.id}/agents/${run.agent_id}/versions?version=${run.agent_version}`}
        >
          {String(run.agent_version)}
        </Link>
        {run.source === "draft" ? <span className="text-ink-2">with unsaved changes</span> : null}
      </Fact>
      <Fact label="Attempt">{`${run.attempt}${of}`}</Fact>
      <Fact label={usage.estimated ? "Tokens, estimated" : "Tokens"}>
        <Tokens input={usage.input_tokens} output={usage.output_tokens} />
      </Fact>
      <Fact label="Cost">
        {isEnded(run) ? (
          <Money micros={run.cost_micros} />
        ) : (
          <span className="text-ink-3">when it has ended</span>
        )}
      </Fact>
      <Fact label="Created">
        <Time value={run.created_at} />
      </Fact>
      {run.finished_at === null ? null : (
        <Fact label="Ended">
          <Time value={run.finished_at} />
        </Fact>
      )}
      {externalId === null ? null : (
        <Fact label="External id">
          <span className="max-w-80 truncate font-mono text-dense" title={externalId} dir="auto">
            {externalId}
          </span>
          <CopyButton text={externalId} what="external id" />
        </Fact>
      )}
      {tags.length === 0 ? null : (
        <Fact label="Tags">
          <span className="flex flex-wrap gap-1">
            {tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>
        </Fact>
      )}
    </Facts>
  );
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
