export { agentQuery, agentsKey, useAgent } from "./queries.ts";
