export {
  type Amounts,
  amountIn,
  calendarPeriodSql,
  crossedSql,
  currentPeriodSql,
  entryAmountSql,
  holdsRunsSql,
  isSpentSql,
  type Limit,
  nextStartSql,
  noAmounts,
  pausesAgentSql,
  reachedSql,
  sumOf,
} from "./budget.ts";
export {
  chargeBudgets,
  returnReservations,
  returnStatements,
  workspacesToWake,
} from "./charge-statement.ts";
export { type CallBound, fitInto } from "./fit.ts";
export {
  limitError,
  priceUnknown,
  secondsToReset,
  toLimitReached,
  waitedTooLong,
} from "./limit-error.ts";
export { Reservations, type Reserved } from "./reservations.ts";
export type { AskingRun } from "./reserve.ts";
export { reserveAtOnceStatement } from "./reserve-at-once-statement.ts";
export { reserveFirstCalls } from "./reserve-first-calls.ts";
export {
  presentPeriod,
  reserveStatements,
  startPeriod,
  waitedForSql,
  waiterTimeoutSeconds,
} from "./reserve-statement.ts";
export { createReachedStatement, selectThresholds } from "./thresholds.ts";
export { isWaitRecordSql, waitRecordStatements } from "./wait-record-statement.ts";
