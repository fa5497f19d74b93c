export { artifactOf, type BodyOptions, type DeliveredRow, deliveryBody } from "./body.ts";
export {
  decryptColumn,
  encryptColumn,
  ownerOfColumn,
  type SecretColumn,
} from "./receiver-secrets.ts";
