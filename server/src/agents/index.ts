export { addAgent, createAgent } from "./create.ts";
export { deleteAgent } from "./delete.ts";
export { prepareFromDocument, toDocument, unsetModelSettings } from "./document.ts";
export { duplicateAgent } from "./duplicate.ts";
export { findOperatorProviders } from "./find-operator-providers.ts";
export { getAgent } from "./get.ts";
export { listAgents } from "./list.ts";
export { pauseAgent } from "./pause.ts";
export { planDraft } from "./plan-draft.ts";
export {
  type AgentRow,
  listOldestAgentRows,
  requireAgent,
  requireAgentForChange,
  toAgent,
  withDefaultLimits,
} from "./records/index.ts";
export { requireCallableTools, type ToolAddressServices } from "./require-callable-tools.ts";
export { requireAgentForRestore, undeleteAgent } from "./restore.ts";
export { resumeAgent } from "./resume.ts";
export { revealAgentToken } from "./reveal-token.ts";
export { revokeAgentToken } from "./revoke-token.ts";
export { rotateAgentToken } from "./rotate-token.ts";
export { openSecret, reEncryptToolSecrets } from "./secrets/index.ts";
export { importHttpTool } from "./tool-import/index.ts";
export { updateAgent } from "./update.ts";
export { compareVersions, getVersion, listVersions, restoreVersion } from "./versions/index.ts";
export { type PreparedAgent, type ResolvedAgent, writeAgents } from "./write-agent.ts";
