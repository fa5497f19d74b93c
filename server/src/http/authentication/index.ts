export { authenticate, workspaceOf } from "./authenticate.ts";
export { findSession, type SessionFound } from "./find-session.ts";
export { credentialId, heldBy } from "./held-credential.ts";
export { requireOwnSite } from "./own-site.ts";
