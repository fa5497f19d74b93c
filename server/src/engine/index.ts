/**
 * The agent loop. It depends on no database, HTTP server or workspace: its callers pass the model,
 * the tools and the journal.
 */
export {
  type AttemptLimit,
  type LimitAttempt,
  LimitStop,
  type PlannedAttempt,
  reachesBound,
} from "./call-limit.ts";
export {
  type Circuit,
  type Circuits,
  circuitPolicy,
  createCircuits,
  type OutageListener,
} from "./circuit/index.ts";
export { endingOfStop, executeRun, internalError } from "./execute-run.ts";
export { type Journal, type Outcome, RunStopped, type StopReason } from "./journal.ts";
export {
  endByDigest,
  interrupt,
  type JournalDigest,
  lostCall,
  lostStep,
  type Prompt,
  type ReportingEvent,
  type Stopped,
} from "./lost-run.ts";
export { heldBytesOf, memoryIsUsedUp } from "./memory.ts";
export type { MeteredCall, ReportedCall } from "./metered-call.ts";
export { recordedWait } from "./model-call/index.ts";
export { demoEcho, demoEchoName, openAICompatibleModel, providerModel } from "./models/index.ts";
export { freePrice, type PriceOf, unknownPrice } from "./price.ts";
export type { Delta, EndedAttempt, Model, RunRequest } from "./run-request.ts";
export { defaultTimeouts } from "./timeouts.ts";
export { type Tool, type ToolContext, ToolFailure } from "./tool.ts";
export type { ToolServices } from "./tools/index.ts";
export { grantedTools } from "./tools/index.ts";
export { UnwrittenEnd } from "./unwritten-end.ts";
