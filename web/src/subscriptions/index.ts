export { disabledBecause, healthOf, nameOf } from "./health.ts";
export { subscriptionsKey, subscriptionsQuery } from "./queries.ts";
export { RunDeliveries } from "./run/run-deliveries.tsx";
