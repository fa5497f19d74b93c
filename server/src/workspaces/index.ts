export { defaultWorkspaceId, ensureDefaultWorkspace } from "./ensure-default.ts";
