import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { Panel, Problem, Skeleton } from "../../ui/index.ts";
import { useAgentId } from "../queries.ts";
import { Change } from "./change.tsx";
import { changesForReading } from "./changes-for-reading.ts";
import { comparisonQuery } from "./queries.ts";
import { VersionChoice } from "./version-choice.tsx";

interface ComparisonProps {
  readonly from: number;
  readonly to: number;
  /** Versions that can be chosen, newest first. */
  readonly known: readonly number[];
}

/** The changes from one version to another. */
export function Comparison({ from, to, known }: ComparisonProps) {
  const workspace = useWorkspace();
  const agentId = useAgentId();
  const { data, error, refetch } = useQuery(comparisonQuery(workspace, agentId, { from, to }));
  return (
    <Panel title="Changes" actions={<VersionChoice from={from} to={to} known={known} />}>
      {data !== undefined ? (
        data.changes.length === 0 ? (
          <p className="py-6 text-center text-ink-2">
            These versions are equal. New values of secrets are not part of a version: they apply to
            all versions.
          </p>
        ) : (
          // With this `key`, React creates the list anew for each comparison. Otherwise lines that
          // are unfolded here would also be unfolded in the next comparison.
          <ul key={`${from} ${to}`} aria-label="Changes" className="flex min-w-0 flex-col gap-6">
            {changesForReading(data.changes).map((change) => (
              // A removed tool can have the same path as a changed one (`versionComparison`).
              <Change
                key={`${change.path} ${change.after === undefined}`}
                change={change}
                from={from}
                to={to}
              />
            ))}
          </ul>
        )
      ) : error !== null ? (
        <Problem error={error} title="The versions could not be compared." onRetry={refetch} />
      ) : (
        <div className="flex flex-col gap-2" aria-busy="true">
          <Skeleton width={25} />
          <Skeleton width={80} />
          <Skeleton width={60} />
        </div>
      )}
    </Panel>
  );
}
