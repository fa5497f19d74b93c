export { deliveryRoutes } from "./deliveries.ts";
export { subscriptionRoutes } from "./subscriptions.ts";
