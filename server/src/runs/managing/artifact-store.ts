import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import type { AccessibleAgents } from "../access.ts";
import { isAccessible } from "../access-store.ts";

/** Identifies an artifact. */
export interface ArtifactRef {
  readonly workspaceId: string;
  readonly runId: string;
  readonly artifactId: string;
}

/**
 * Returns media type and size of a run's artifact; undefined if the run has no such artifact, or
 * belongs to none of `agentIds`.
 */
export function findArtifact(
  tx: WorkspaceTransaction,
  { workspaceId, runId, artifactId }: ArtifactRef,
  agentIds: AccessibleAgents,
): Promise<{ media_type: string; bytes: number } | undefined> {
  return tx
    .selectFrom("artifacts as a")
    .innerJoin("runs as r", (join) =>
      join.onRef("r.id", "=", "a.run_id").onRef("r.workspace_id", "=", "a.workspace_id"),
    )
    .select(["a.media_type", sql<number>`octet_length(a.content)`.as("bytes")])
    .where("a.id", "=", artifactId)
    .where("a.run_id", "=", runId)
    .where("a.workspace_id", "=", workspaceId)
    .where(isAccessible("r.agent_id", agentIds))
    .executeTakeFirst();
}

/** Maximum number of files that a retry copies: as many as a form can have. */
const maxFiles = 100;

/** Returns ids and sizes of those artifacts of the run that have one of the ids. */
export function findFiles(
  tx: WorkspaceTransaction,
  { workspaceId, runId }: Omit<ArtifactRef, "artifactId">,
  ids: readonly string[],
): Promise<{ id: string; bytes: number }[]> {
  return tx
    .selectFrom("artifacts")
    .select(["id", sql<number>`octet_length(content)`.as("bytes")])
    .where("run_id", "=", runId)
    .where("workspace_id", "=", workspaceId)
    .where(sql<boolean>`id = any (${[...ids]}::text[])`)
    .limit(maxFiles)
    .execute();
}

/**
 * Returns up to `maxBytes` bytes of an artifact's content from `offset`, which counts from 0;
 * undefined if the artifact was deleted.
 */
export async function readArtifactPart(
  tx: WorkspaceTransaction,
  { workspaceId, runId, artifactId }: ArtifactRef,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Promise<Buffer | undefined> {
  const row = await tx
    .selectFrom("artifacts")
    .select(sql<Buffer>`substring(content from ${offset + 1}::int for ${maxBytes}::int)`.as("part"))
    .where("id", "=", artifactId)
    .where("run_id", "=", runId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row?.part;
}
