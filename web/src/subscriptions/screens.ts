/**
 * All screens of subscriptions and deliveries. They are one module, so that the build puts them in
 * one file: a person who opens one of them soon opens another, and small files compress badly.
 */
export { DeliveryScreen } from "./delivery/delivery-screen.tsx";
export { SubscriptionsScreen } from "./list/subscriptions-screen.tsx";
export { RunDeliveriesList } from "./run/run-deliveries-list.tsx";
export { SubscriptionScreen } from "./subscription/subscription-screen.tsx";
