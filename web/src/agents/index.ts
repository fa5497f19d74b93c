export { AgentChoice } from "./choice/agent-choice.tsx";
export { agentQuery, agentsKey, choosableAgentsQuery, useAgent } from "./queries.ts";
