import type { Database } from "../base/database/index.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { findAgentByToken } from "./store.ts";

/**
 * Returns the agent and workspace of an agent token, or undefined if the token is not valid:
 * malformed, unknown, rotated, revoked, expired, or its agent is deleted.
 */
export async function resolveToken(
  database: Database,
  token: string,
): Promise<{ workspaceId: string; agentId: string } | undefined> {
  return isCredential("bka_", token)
    ? findAgentByToken(database, hashCredential(token))
    : undefined;
}
