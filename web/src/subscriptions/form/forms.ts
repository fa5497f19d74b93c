/** The forms of a subscription, loaded together when one is opened. */
export { EditSubscription } from "./edit-subscription.tsx";
export { NewSubscription } from "./new-subscription.tsx";
