import { type QueryClient, usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { clientOf, isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import { Link, MessagePage, PageSkeleton, Problem } from "../../ui/index.ts";
import { runQuery } from "../queries.ts";
import { firstEntriesQuery } from "./journal/queries.ts";
import { RunPage } from "./run-page.tsx";

/** The screen of a run. It shows each step and, while the run executes, is updated live. */
export function RunScreen() {
  const workspace = useWorkspace();
  const { runId = "" } = useParams({ strict: false }) as { readonly runId?: string };
  const query = useQuery(runQuery(workspace, runId));
  const { data: run, error, refetch } = query;
  const isGone = useIsGone(error);
  // Requests the journal at the same time as the run. `RunPage` would request it only once the run
  // has arrived.
  usePrefetchQuery(firstEntriesQuery(workspace, runId));
  if (run !== undefined && !isGone)
    return <RunPage key={runId} run={run} notice={<RefetchNotice noun="run" query={query} />} />;
  if (error === null) return <PageSkeleton />;
  if (isNotFound(error))
    return (
      <MessagePage title="Run not found">
        <p>
          There is no run with this id. It may have been deleted, or it belongs to another
          workspace.
        </p>
        <Link href={`/w/${workspace.id}/runs`}>Show all runs</Link>
      </MessagePage>
    );
  return (
    <div className="p-4 md:p-6">
      <title>Run · Beckon</title>
      <h1 className="sr-only">Run</h1>
      <Problem error={error} title="The run could not be loaded." onRetry={refetch} />
    </div>
  );
}

/** Starts to read the data of the screen before the screen is rendered. */
export function prefetch(
  queryClient: QueryClient,
  { workspaceId, runId }: { readonly workspaceId: string; readonly runId: string },
): void {
  const workspace = { id: workspaceId, client: clientOf(workspaceId) };
  void queryClient.prefetchQuery(runQuery(workspace, runId));
  void queryClient.prefetchQuery(firstEntriesQuery(workspace, runId));
}
