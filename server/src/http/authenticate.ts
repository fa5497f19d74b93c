import type { IncomingMessage } from "node:http";
import type { Actor } from "../base/context.ts";
import { databaseAway, failureKind } from "../base/database/index.ts";
import { resolveKey } from "../keys/index.ts";
import { unauthorizedMessage } from "../runs/index.ts";
import { resolveToken } from "../tokens/index.ts";
import { addressOf, headerOf } from "./request.ts";
import type { Services } from "./services.ts";

/**
 * Who sent this request, by its `x-api-key`, asked of the database each time: a revocation holds from its answer on.
 * @throws Refusal `unauthorized`, the same for all credentials that do not stand.
 */
export async function authenticate(services: Services, incoming: IncomingMessage): Promise<{ actor: Actor; workspaceId: string }> {
  const credential = headerOf(incoming, "x-api-key");
  const found = credential === undefined ? undefined : await resolve(services, credential);
  if (found !== undefined) return found;
  throw services.failedAuthentications.answer(addressOf(incoming, services.trustProxy), unauthorizedMessage);
}

async function resolve(services: Services, credential: string): Promise<{ actor: Actor; workspaceId: string } | undefined> {
  try {
    if (credential.startsWith("bka_")) {
      const token = await resolveToken(services.database, credential);
      return token && { actor: { kind: "token", agentId: token.agentId }, workspaceId: token.workspaceId };
    }
    const key = await resolveKey(services.database, credential);
    if (key === undefined) return undefined;
    services.keyUse.note({ workspaceId: key.workspaceId, credential });
    return { actor: { kind: "key", id: key.id, scopes: key.scopes, agentIds: key.agentIds }, workspaceId: key.workspaceId };
  } catch (thrown) {
    throw failureKind(thrown) === "lost" ? databaseAway(thrown) : thrown;
  }
}
