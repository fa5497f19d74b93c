import { useWorkspace } from "../../data/index.ts";
import { EmptyState, LinkButton } from "../../ui/index.ts";

/** Shown for an agent that does not exist, for example because it was deleted. */
export function AgentMissing() {
  const { id } = useWorkspace();
  return (
    <>
      <title>No such agent · Beckon</title>
      <h1 className="sr-only">No such agent</h1>
      <EmptyState
        action={<LinkButton href={`/w/${id}/agents?deleted=true`}>Show deleted agents</LinkButton>}
      >
        There is no agent with this id in the workspace. A deleted agent can be restored for 30
        days.
      </EmptyState>
    </>
  );
}
