import type { Ceiling } from "@beckon/client";
import { useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useList, useWorkspace } from "../data/index.ts";
import {
  Button,
  CurlLine,
  EmptyState,
  LoadMore,
  Panel,
  RowsProblem,
  Skeleton,
  useShowDialog,
} from "../ui/index.ts";
import { CeilingDialogs } from "./ceiling-dialogs.tsx";
import { CeilingRow } from "./ceiling-row.tsx";
import { ceilingsQuery } from "./queries.ts";

/** The ceilings (daily spending limits) of the workspace, and of its agents, keys and triggers. */
export function CeilingsPanel() {
  const workspace = useWorkspace();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const ceilings = useList(ceilingsQuery(workspace));
  const show = useShowDialog();
  const isEmpty = ceilings.data !== undefined && ceilings.rows.length === 0;
  const create = (
    <Button
      size={isEmpty ? "medium" : "small"}
      icon={Plus}
      disabledReason={workspace.whyNot("limits:write")}
      onClick={() => show({ ceiling: "new" })}
    >
      New ceiling
    </Button>
  );
  return (
    <Panel
      title="Ceilings"
      description={`What runs can cost a day, from midnight in ${workspace.storedTimeZone}.`}
      padding="none"
      // While the ceilings load, it is not known where the button belongs. A button that moves
      // takes no click.
      actions={isEmpty || ceilings.isPending ? undefined : create}
    >
      <RowsProblem label="Ceilings" query={ceilings} hasRows={ceilings.rows.length > 0} />
      {ceilings.isPending ? (
        <div className="h-24 p-4">
          <Skeleton variant="block" />
        </div>
      ) : ceilings.data === undefined ? null : isEmpty ? (
        <EmptyState
          action={create}
          snippet={<CurlLine path="/limits" credentialHref={`/w/${workspace.id}/keys`} />}
        >
          A ceiling stops runs when they have cost a set amount on one day: all runs of the
          workspace, or those of one agent, key or trigger.
        </EmptyState>
      ) : (
        <ul aria-label="Ceilings" className="divide-y divide-rule">
          {ceilings.rows.map((ceiling) => (
            <CeilingRow
              key={nameOf(ceiling)}
              ceiling={ceiling}
              onAct={(act) => show({ ceiling: nameOf(ceiling), act })}
            />
          ))}
        </ul>
      )}
      <LoadMore query={ceilings} />
      <CeilingDialogs rows={ceilings.rows} search={search} close={() => show({})} />
    </Panel>
  );
}

/** Returns how the URL names a ceiling. */
function nameOf({ scope, scope_id }: Ceiling): string {
  return `${scope}:${scope_id}`;
}
