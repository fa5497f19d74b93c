export { createAdmittedCredentials } from "./admitted-credentials.ts";
export { fireCors, handleFire, handleFireOptions } from "./fire.ts";
export { handleInvoke } from "./invoke.ts";
