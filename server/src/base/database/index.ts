export { checkServer } from "./check-server.ts";
export { connect, type Database } from "./connect.ts";
export { failureKind, isUniqueViolation } from "./failures.ts";
export { type Gatherer, GiveUp, gather } from "./gather.ts";
export { databaseAway, inWorkspace, type WorkspaceTransaction } from "./in-workspace.ts";
export { isUsable } from "./is-usable.ts";
export { migrate } from "./migrate.ts";
export type { Tables } from "./tables.ts";
export { openWakeUps, type WakeUp, type WakeUps } from "./wake-ups.ts";
