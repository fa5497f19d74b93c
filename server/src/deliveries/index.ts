export { artifactOf, type BodyOptions, type DeliveredRow, deliveryBody } from "./body.ts";
export { reEncryptSubscriptions } from "./re-encrypt-secrets.ts";
export {
  newSigningSecret,
  openHeaders,
  openSigningSecret,
  originOf,
  type SubscriptionOwner,
  sealHeaders,
  sealSigningSecret,
} from "./secrets.ts";
export { defaultDeliveryLimits, type Sender, type SenderOptions, startSender } from "./sender.ts";
export type { DeliveryServices } from "./services.ts";
