import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../base/database/index.ts";
import { isAgentToken } from "../credentials/index.ts";

/** The agent or trigger to which a token belongs. With `triggerId` it belongs to the trigger. */
export interface Subject {
  readonly agentId: string;
  readonly triggerId?: string;
}

/**
 * SQL condition for the tokens of an agent or trigger. It compares plain columns and not
 * `coalesce(trigger_id, agent_id)`, as the unique indexes do, because with row-level security
 * PostgreSQL does not use an index on such an expression.
 */
const ofSubject = ({ agentId, triggerId }: Subject) =>
  sql<boolean>`agent_id = ${agentId} and trigger_id is not distinct from ${triggerId ?? null}`;

export interface InsertedToken {
  readonly workspaceId: string;
  readonly subject: Subject;
  /** SHA-256 of the token. */
  readonly hash: Buffer;
  /** The encrypted token. */
  readonly sealed: string;
}

/**
 * Inserts tokens with one statement. The agents and triggers must have no current token.
 * @param rows At most 13,107: a statement has at most 65,535 parameters.
 */
export async function insertTokens(
  tx: WorkspaceTransaction,
  rows: readonly InsertedToken[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto("tokens")
    .values(
      rows.map((row) => ({
        hash: row.hash,
        workspace_id: row.workspaceId,
        agent_id: row.subject.agentId,
        trigger_id: row.subject.triggerId ?? null,
        sealed: row.sealed,
      })),
    )
    .execute();
}

/**
 * Deletes all tokens of an agent or trigger, including one in its grace period.
 * @returns The number of deleted tokens.
 */
export async function deleteTokens(tx: WorkspaceTransaction, subject: Subject): Promise<number> {
  const result = await tx.deleteFrom("tokens").where(ofSubject(subject)).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/**
 * Sets the current token to expire in `graceSeconds`. Deletes the token that an earlier rotation
 * has replaced, even if its grace period has not ended.
 */
export async function retireToken(
  tx: WorkspaceTransaction,
  subject: Subject,
  graceSeconds: number,
): Promise<void> {
  await tx
    .deleteFrom("tokens")
    .where(ofSubject(subject))
    .where("expires_at", "is not", null)
    .execute();
  await tx
    .updateTable("tokens")
    .set({ expires_at: sql`now() + make_interval(secs => ${graceSeconds})` })
    .where(ofSubject(subject))
    .execute();
}

export function findEncryptedToken(
  tx: WorkspaceTransaction,
  subject: Subject,
): Promise<{ hash: Buffer; sealed: string } | undefined> {
  return tx
    .selectFrom("tokens")
    .select(["hash", "sealed"])
    .where(ofSubject(subject))
    .where("expires_at", "is", null)
    .executeTakeFirst();
}

/**
 * Returns the agent and workspace of an agent token; undefined if the token is not valid. Reads all
 * workspaces, because the token's workspace is not known before.
 * @param hash SHA-256 of the token.
 */
export async function findAgentByToken(
  database: Database,
  hash: Buffer,
): Promise<{ workspaceId: string; agentId: string } | undefined> {
  const { rows } = await database.engine.query<{ workspace_id: string; agent_id: string }>({
    name: "find-agent-by-token",
    text: `select t.workspace_id, t.agent_id
      from tokens t join agents a on ${isAgentToken("t", "a")}
      where t.hash = $1`,
    values: [hash],
  });
  const row = rows[0];
  return row && { workspaceId: row.workspace_id, agentId: row.agent_id };
}
