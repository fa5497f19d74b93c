export { type Authenticated, authenticate, workspaceOf } from "./authenticate.ts";
export { findSession, type SessionFound } from "./find-session.ts";
export { kindOfCredential } from "./kind-of-credential.ts";
export { requireOwnSite } from "./own-site.ts";
export { credentialId, streamCredentialOf } from "./stream-credential.ts";
export { presentedKind, unauthorized } from "./unauthorized.ts";
