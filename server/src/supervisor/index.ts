export { type ClaimedPort, checkPort, claimPort, requireSharedPort } from "./claim-port.ts";
export { writeDemoFiles } from "./demo-files.ts";
export { greeting } from "./greeting.ts";
export { keepServers, serverExecArgv } from "./keep-servers.ts";
export {
  type CollectedMetrics,
  type Demo,
  type Draining,
  type Executing,
  type Failed,
  type FoundProvider,
  type Pong,
  parseFromSupervisor,
  type Ready,
  type Registered,
} from "./messages.ts";
export { MetricsCollector } from "./metrics-collector.ts";
export { type MetricsServer, metricsSettings, serveMetrics } from "./serve-metrics.ts";
