export { issueToken } from "./issue.ts";
export { resealTokens } from "./reseal.ts";
export { resolveToken } from "./resolve.ts";
export { revealToken } from "./reveal.ts";
export { deleteTokens as revokeTokens } from "./store.ts";
