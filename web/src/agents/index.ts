export { AgentChoice } from "./choice/agent-choice.tsx";
export { AgentPicker } from "./choice/agent-picker.tsx";
export { AgentSelect } from "./choice/agent-select.tsx";
export { limitPollMs, mayChangePause, pauseReadIntervalMs } from "./pause.ts";
export {
  agentQuery,
  agentsKey,
  choosableAgentsQuery,
  choosableTriggersQuery,
  newestAgentQuery,
  useAgent,
} from "./queries.ts";
