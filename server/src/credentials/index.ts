export { networkOf } from "./network-of.ts";
export { requireUnchangedRights } from "./require-unchanged-rights.ts";
export { type StreamCredential, stillValid } from "./still-valid-statement.ts";
export { unauthorizedMessage } from "./unauthorized.ts";
export { isAgentToken, isKeySecret, isTriggerToken, isUnexpired } from "./validity.ts";
