export { subscriptionsQuery } from "./list-query.ts";
export { RunDeliveries } from "./run/run-deliveries.tsx";
