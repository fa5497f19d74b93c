export { checkSetup } from "./check-setup.ts";
export { createWorkspace } from "./create.ts";
export { defaultWorkspaceId, ensureDefaultWorkspace } from "./ensure-default.ts";
export { getWorkspace } from "./get.ts";
export { listWorkspaces } from "./list.ts";
export { issueSetupToken, revokeSetupTokens, setUp } from "./set-up.ts";
export { updateWorkspace } from "./update.ts";
