import type { Database } from "../base/database/index.ts";
import { maxBodyBytes } from "./body.ts";

/**
 * Returns the JSON of the data of a delivery that this process has claimed; undefined if the
 * delivery has no data any more, for example because its run was deleted.
 */
export async function readClaimedData(
  { engine }: Database,
  { subscription_id, id }: { readonly subscription_id: string; readonly id: string },
): Promise<string | undefined> {
  const { rows } = await engine.query<{ data: string | null }>({
    name: "read-claimed-data",
    text: "select data::text from deliveries where subscription_id = $1 and id = $2",
    values: [subscription_id, id],
  });
  return rows[0]?.data ?? undefined;
}

/** Returns the content of an artifact; undefined if it was deleted or is larger than 256 KiB. */
export async function readArtifact(
  { engine }: Database,
  { workspace_id }: { readonly workspace_id: string },
  artifactId: string,
): Promise<string | undefined> {
  const { rows } = await engine.query<{ content: Buffer }>({
    name: "read-delivered-artifact",
    // Larger content does not fit into the body of a delivery.
    text: `select content from artifacts
      where id = $1 and workspace_id = $2 and octet_length(content) <= ${maxBodyBytes}`,
    values: [artifactId, workspace_id],
  });
  return rows[0]?.content.toString("utf8");
}
