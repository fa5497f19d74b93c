/**
 * All that shows subscriptions and deliveries. One module, so that the build makes one file of it:
 * who opens one of the screens soon opens the next, and many small files compress badly.
 */
export { DeliveryScreen } from "./delivery/one-delivery.tsx";
export { SubscriptionsScreen } from "./list/all-subscriptions.tsx";
export { RunDeliveriesList } from "./run/run-deliveries-list.tsx";
export { SubscriptionScreen } from "./subscription/one-subscription.tsx";
