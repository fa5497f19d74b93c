export { networkOf } from "./network-of.ts";
export { type StreamCredential, stillValid } from "./still-valid-statement.ts";
export { unauthorizedMessage } from "./unauthorized.ts";
export { isAgentToken, isKeySecret, isTriggerToken, isUnexpired } from "./validity.ts";
