export { createSubscription } from "./create.ts";
export { deleteSubscription } from "./delete.ts";
export {
  getDelivery,
  listDeliveries,
  listRunDeliveries,
  replayDeliveries,
  replayDelivery,
} from "./deliveries/index.ts";
export { exampleBody } from "./examples.ts";
export { getSubscription } from "./get.ts";
export { listSubscriptions } from "./list.ts";
export { pauseSubscription } from "./pause.ts";
export { resumeSubscription } from "./resume.ts";
export { revealSubscriptionSecret } from "./reveal.ts";
export { rotateSubscriptionSecret } from "./rotate.ts";
export { testSubscription } from "./test-subscription.ts";
export { updateSubscription } from "./update.ts";
