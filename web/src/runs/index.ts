export { type AgentName, agentNamesQuery, useAgentNames } from "./agent-names.ts";
export { CompareRuns } from "./compare/compare-runs.tsx";
export { isFailing } from "./is-failing.ts";
export { isEnd, isNewRun, patched } from "./live-runs.ts";
export { isEnded } from "./patch-run.ts";
export { runQuery, runsKey } from "./queries.ts";
export { RunProblem } from "./run-problem.tsx";
export { rejectionReason, toolOutcomeOf, unansweredCall, unmadeCall } from "./tool-outcome.ts";
export { useLiveRuns } from "./use-live-runs.ts";
