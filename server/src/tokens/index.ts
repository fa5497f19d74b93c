export { issueToken, type NewToken, newToken } from "./issue.ts";
export { reEncryptTokens } from "./re-encrypt-tokens.ts";
export { resolveToken } from "./resolve.ts";
export { revealToken } from "./reveal.ts";
export { deleteTokens as revokeTokens, insertTokens } from "./store.ts";
