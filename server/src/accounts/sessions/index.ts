export { listSessions } from "./list-sessions.ts";
export { revokeOtherSessions } from "./revoke-other-sessions.ts";
export { revokeSession } from "./revoke-session.ts";
export { signOut } from "./sign-out.ts";
