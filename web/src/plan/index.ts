export { metricTexts } from "./metrics.ts";
export { planQuery } from "./queries.ts";
