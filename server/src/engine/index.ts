/** The agent loop. Knows no database, no HTTP server and no workspace: it is handed its model, its tools and its journal. */
export { type Circuit, circuitPolicy } from "./circuit.ts";
export { type Circuits, createCircuits } from "./circuits.ts";
export { executeRun } from "./execute-run.ts";
export { heldBytesOf } from "./held-bytes.ts";
export { type Journal, type Outcome, RunStopped, type StopReason } from "./journal.ts";
export { interrupt, type JournalDigest } from "./lost-run.ts";
export { demoEcho, demoEchoName } from "./models/demo-echo.ts";
export { openAICompatibleModel } from "./models/openai-compatible.ts";
export { providerModel } from "./models/provider-model.ts";
export type { Delta, Model, RunRequest } from "./run-request.ts";
export { defaultTimeouts } from "./timeouts.ts";
export { type Tool, type ToolContext, ToolFailure } from "./tool.ts";
export { grantedTools } from "./tools/granted-tools.ts";
export type { ToolServices } from "./tools/http/http-tool.ts";
