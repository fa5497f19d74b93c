export { bindingOfSenderSecret } from "./binding.ts";
export { reEncryptSenderSecrets } from "./re-encrypt-secrets.ts";
export {
  decryptSecret,
  encryptSecret,
  generateVerifyToken,
  hasUsableSecret,
  readableSecret,
  readableText,
  toSenderSecrets,
} from "./stored-secret.ts";
