export { AgentChoice } from "./choice/agent-choice.tsx";
export { limitPollMs, mayChangePause, pauseReadIntervalMs } from "./pause.ts";
export { agentQuery, agentsKey, choosableAgentsQuery, useAgent } from "./queries.ts";
