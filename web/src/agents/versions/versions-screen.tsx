import { useState } from "react";
import { useList, useWorkspace } from "../../data/index.ts";
import { EmptyState, LoadMore, Panel, RowsProblem, Skeleton } from "../../ui/index.ts";
import { useAgent } from "../queries.ts";
import { useSearchParameters } from "../search.ts";
import { Comparison } from "./comparison.tsx";
import { versionsQuery } from "./queries.ts";
import { RestoreDialog } from "./restore-dialog.tsx";
import { comparedWith, VersionList } from "./version-list.tsx";

/**
 * The versions of an agent: who created them and when, what they changed, and a button to restore
 * one.
 */
export function VersionsScreen() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const search = useSearchParameters();
  const versions = useList(versionsQuery(workspace, agent.id));
  const [restoring, setRestoring] = useState<number>();
  const to = versionOf(search.to) ?? agent.version;
  const from = versionOf(search.from) ?? comparedWith(to, agent.version);
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <Panel title="Versions" padding="none">
        <RowsProblem label="Versions" query={versions} hasRows={versions.rows.length > 0} />
        {versions.isPending ? (
          <div className="flex flex-col gap-3 p-4" aria-busy="true">
            <Skeleton width={40} />
            <Skeleton width={60} />
            <Skeleton width={40} />
          </div>
        ) : versions.rows.length === 0 ? null : (
          <div className="max-h-60 overflow-y-auto lg:max-h-[70vh]">
            <VersionList
              versions={versions.rows}
              currentVersion={agent.version}
              open={to}
              onRestore={setRestoring}
            />
            <LoadMore query={versions} />
          </div>
        )}
      </Panel>
      {agent.version === 1 ? (
        <EmptyState>
          This agent has one version. Each change of its settings makes the next one, and here you
          compare and restore them.
        </EmptyState>
      ) : (
        <Comparison from={from} to={to} known={versions.rows.map(({ version }) => version)} />
      )}
      {restoring === undefined ? null : (
        <RestoreDialog version={restoring} close={() => setRestoring(undefined)} />
      )}
    </div>
  );
}

/** Returns the version number in a search parameter; undefined if it is not a valid one. */
function versionOf(text: string | undefined): number | undefined {
  const version = Number(text);
  return Number.isInteger(version) && version >= 1 && version <= 2_147_483_647
    ? version
    : undefined;
}
