export { isOfDatabase, supervisorMetrics } from "./definitions.ts";
export {
  type CollectedMetric,
  createMetrics,
  type Metrics,
} from "./metrics.ts";
