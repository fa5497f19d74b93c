export { failoverStatements } from "./abandoned-statement.ts";
export { cancelledRuns } from "./cancelled-store.ts";
export { type ClaimPorts, claimRuns, takeOverRuns } from "./claim.ts";
export { claimStatements } from "./claim-statement.ts";
export { endRestored, endRestoredStatements } from "./end-restored-statement.ts";
export { dropHeldStatement, expireQueued, expireStatement } from "./expire-queued-statement.ts";
export { releaseHeld, releaseStatement } from "./release-held-statement.ts";
export { severalWorkspacesHaveAgents } from "./several-workspaces-store.ts";
export { UnreadableRuns } from "./unreadable-runs.ts";
