export { createAdmittedCredentials } from "./admitted-credentials.ts";
export { createAdmittedTriggers } from "./admitted-triggers.ts";
export {
  type FireState,
  firePath,
  handleFire,
  handleFireHandshake,
  handleFireOptions,
} from "./fire.ts";
export { handleInvoke } from "./invoke.ts";
