export { deliveryBody, maxBodyBytes, parseEventData } from "./body.ts";
export { eventData } from "./claim-statement.ts";
export { readDeliveryFigures } from "./figures-store.ts";
export { closeRestored } from "./maintenance-store.ts";
export { reEncryptSubscriptions } from "./re-encrypt-secrets.ts";
export {
  decryptSigningSecret,
  encryptHeaders,
  encryptSigningSecret,
  isSigningSecret,
  newSigningSecret,
  originOf,
} from "./secrets.ts";
export { defaultDeliveryLimits, type Sender, type SenderOptions, startSender } from "./sender.ts";
export type { DeliveryServices } from "./services.ts";
