export { AgentCache, type AgentCacheOptions } from "./agent-cache.ts";
export { Capacity } from "./capacity.ts";
export { type DrainPorts, drainRuns } from "./drain.ts";
export { executeOwned, type OwnedRun } from "./execute.ts";
export { type FirstCall, FirstCalls } from "./first-calls.ts";
export { type Memory, shareMemory } from "./memory.ts";
export { WorkerCalls } from "./worker-calls.ts";
