export { deliveryRoutes, runDeliveryRoutes } from "./deliveries.ts";
export { subscriptionRoutes } from "./subscriptions.ts";
