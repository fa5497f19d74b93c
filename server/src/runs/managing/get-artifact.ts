import type { Context } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { deletionHint } from "../../retention/index.ts";
import { permitRuns } from "../access.ts";
import { findArtifact, readArtifactPart } from "./artifact-store.ts";

/** An artifact of a run. */
export interface Artifact {
  readonly id: string;
  /** The media type that it was stored with. */
  readonly mediaType: string;
  readonly bytes: number;
  /** The content in parts of at most `maxPartBytes`. Each part is read when it is asked for. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Maximum size of a part of an artifact's content, in bytes. To read a part, PostgreSQL
 * decompresses the content up to the end of the part, so smaller parts would cost more.
 */
export const maxPartBytes = 1024 * 1024;

/**
 * Returns an artifact of a run that the actor can see. Each part of the content is read in its own
 * transaction, so a slow reader does not keep a transaction open. Reading fails if the artifact is
 * deleted while it is being read.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function getArtifact({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string; artifactId: string };
}): Promise<Artifact> {
  const agentIds = permitRuns(ctx, "runs:read");
  const { workspaceId } = ctx;
  const ref = { workspaceId, ...input };
  const row = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const found = await findArtifact(tx, ref, agentIds);
    if (found !== undefined) return found;
    throw new ApiError(
      "not_found",
      "There is no artifact with this id in a run with this id that this credential can see." +
        (await deletionHint(tx, ctx, input.runId)),
    );
  });
  const { media_type: mediaType, bytes } = row;
  return { id: input.artifactId, mediaType, bytes, content: parts() };

  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset < bytes; offset += maxPartBytes) {
      const part = await inWorkspace(ctx.database.tenant, workspaceId, (tx) =>
        readArtifactPart(tx, ref, { offset, maxBytes: maxPartBytes }),
      );
      if (part === undefined) throw new Error(`artifact ${ref.artifactId} was deleted`);
      yield part;
    }
  }
}
