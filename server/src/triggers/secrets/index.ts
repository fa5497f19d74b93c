export { bindingOfSenderSecret } from "./binding.ts";
export { reEncryptSenderSecrets } from "./re-encrypt-secrets.ts";
export {
  decryptSecret,
  encryptSecret,
  generateVerifyToken,
  hasUsableSecret,
} from "./stored-secret.ts";
