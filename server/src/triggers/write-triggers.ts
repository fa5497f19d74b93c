import type { CreateTriggerBody } from "@beckon/contract";
import type { NewAuditEntry } from "../base/audit/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { insertTokens, type NewToken, newToken } from "../tokens/index.ts";
import { type InsertedTrigger, insertTriggers } from "./store.ts";

/** A new trigger that is not inserted yet. */
export interface PreparedTrigger {
  readonly row: InsertedTrigger;
  readonly token: NewToken;
  readonly entry: NewAuditEntry;
}

/** Generates the row, the token and the audit entry of a new trigger, without the database. */
export function prepareTrigger(
  ctx: Pick<Context, "workspaceId" | "cipher">,
  {
    agentId,
    triggerId,
    body: { receiving, ...body },
  }: {
    readonly agentId: string;
    readonly triggerId: string;
    readonly body: CreateTriggerBody;
  },
): PreparedTrigger {
  return {
    row: {
      id: triggerId,
      workspace_id: ctx.workspaceId,
      agent_id: agentId,
      ...body,
      receiving: receiving === null ? null : JSON.stringify(receiving),
    },
    token: newToken(ctx, { agentId, triggerId }),
    entry: {
      action: "trigger.create",
      target: triggerId,
      data: { agent_id: agentId, name: body.name },
    },
  };
}

/**
 * Inserts new triggers and their tokens, with one statement per table. The caller must have
 * inserted or locked the agents, have checked permissions and the settings `receiving`, and write
 * the audit entries.
 */
export async function writeTriggers(
  tx: WorkspaceTransaction,
  triggers: readonly PreparedTrigger[],
): Promise<void> {
  await insertTriggers(
    tx,
    triggers.map(({ row }) => row),
  );
  await insertTokens(
    tx,
    triggers.map(({ token }) => token.row),
  );
}
