import type { Database } from "../base/database/index.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { findAgentByToken } from "./store.ts";

/**
 * Returns the agent and workspace of an agent token. Returns undefined if the token is malformed,
 * unknown, revoked or expired, or if its agent is deleted. After a rotation, the previous token is
 * valid until its grace period ends.
 */
export async function resolveToken(
  database: Database,
  token: string,
): Promise<{ workspaceId: string; agentId: string } | undefined> {
  return isCredential("bka_", token)
    ? findAgentByToken(database, hashCredential(token))
    : undefined;
}
