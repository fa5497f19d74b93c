export type { QueryConfig, QueryResult, QueryResultRow } from "pg";
export { attemptTask } from "./attempt-task.ts";
export {
  type Batcher,
  boundedTurn,
  createBatcher,
  createMutex,
  type Mutex,
  SubmitTimeoutError,
} from "./batcher.ts";
export { checkServer } from "./check-server.ts";
export { connect, type Database, type Queryable } from "./connect.ts";
export { failureKind, isCancelled, isInvalidParameter, isUniqueViolation } from "./failures.ts";
export { HorizonMonitor } from "./horizon.ts";
export {
  databaseUnavailable,
  inAllWorkspaces,
  inTransaction,
  inWorkspace,
  limitStatements,
  limitText,
  limitTime,
  possiblyExecuted,
  unavailableIfLost,
  type WorkspaceTransaction,
} from "./in-workspace.ts";
export { type InspectedServer, inspectServer } from "./inspect-server.ts";
export { isUsable } from "./is-usable.ts";
export { separateLargeRows } from "./large-rows.ts";
export { migrate } from "./migrate.ts";
export {
  openProcessMessages,
  type ProcessMessage,
  type ProcessMessages,
} from "./process-messages.ts";
export { pauseIfLost, retryWhileLost } from "./retry-while-lost.ts";
export { maxSearched, type Searched, searchNewest } from "./search-newest.ts";
export { explainStartFailure } from "./start-failure.ts";
export {
  type Column,
  type Parameters,
  type RowsTable,
  type Statement,
  sqlList,
  statement,
} from "./statement.ts";
export type { Tables } from "./tables.ts";
export { timeText } from "./time-text.ts";
