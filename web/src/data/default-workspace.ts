/**
 * Id of the workspace `default` in every installation. Only its owners and its keys can create
 * workspaces and manage plans.
 */
export const defaultWorkspaceId = "wsp_00000000000000000000000000";
