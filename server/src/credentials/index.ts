export { networkOf } from "./network-of.ts";
export { requireUnchangedRole } from "./require-unchanged-role.ts";
export { type StreamCredential, stillValid } from "./still-valid-statement.ts";
export { unauthorizedMessage } from "./unauthorized.ts";
export { isAgentToken, isKeySecret, isTriggerToken, isUnexpired } from "./validity.ts";
