export { agentFilter } from "./agent-filter.tsx";
export { type AgentName, agentNamesQuery, maxAgents, useAgentNames } from "./agent-names.ts";
export { CompareRuns } from "./compare/compare-runs.tsx";
export { isFailing } from "./is-failing.ts";
export { lookedBackTo } from "./list/looked-back.ts";
export { isMove, isNewRun, patched } from "./live-runs.ts";
export { failedAttemptText } from "./model-output.ts";
export { isEnded } from "./patch-run.ts";
export { runQuery, runsKey } from "./queries.ts";
export { RaiseCeiling } from "./raise-ceiling.tsx";
export { RunProblem } from "./run-problem.tsx";
export { rejectionReason, toolOutcomeOf, unansweredCall, unmadeCall } from "./tool-outcome.ts";
export {
  allSteps,
  durationOf,
  isOutputInSteps,
  type Step,
  type ToolUse,
  type Transcript,
} from "./transcript/transcript.ts";
export { type Followed, useTranscript } from "./transcript/use-transcript.ts";
export { useLiveRuns } from "./use-live-runs.ts";
