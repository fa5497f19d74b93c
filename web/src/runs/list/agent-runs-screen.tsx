import { useAgent } from "../../agents/index.ts";
import { RunsTable } from "./runs-table.tsx";

/** The runs of one agent. */
export function AgentRunsScreen() {
  const { id } = useAgent();
  return <RunsTable label="Runs of this agent" limitedTo={{ agent_id: id }} />;
}
