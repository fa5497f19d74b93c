import { useWorkspace } from "../../data/index.ts";
import { Link, MessagePage } from "../../ui/index.ts";

/** Shown for an agent that does not exist, for example because it was deleted. */
export function AgentMissing() {
  const { id } = useWorkspace();
  return (
    <MessagePage title="Agent not found">
      <p>
        There is no agent with this id in the workspace. A deleted agent can be restored for 30
        days.
      </p>
      <Link href={`/w/${id}/agents?deleted=true`}>Show deleted agents</Link>
    </MessagePage>
  );
}
