import type { Database } from "../base/database/index.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";

/** The key behind a credential, or undefined: unknown or expired. Runs under all workspaces, since it is what tells the workspace. */
export async function resolveKey(
  database: Database,
  text: string,
): Promise<{ id: string; workspaceId: string; scopes: string[] } | undefined> {
  if (!mayBeKey(text)) return undefined;
  const { rows } = await database.engine.query<{ id: string; workspace_id: string; scopes: string[] }>({
    name: "resolve-key",
    text: "select id, workspace_id, scopes from keys where hash = $1 and (expires_at is null or expires_at > now())",
    values: [hashCredential(text)],
  });
  const row = rows[0];
  return row && { id: row.id, workspaceId: row.workspace_id, scopes: row.scopes };
}

/** A bootstrap key has no form of ours; what has our prefix and a wrong checksum is junk and costs no query. */
export function mayBeKey(text: string): boolean {
  if (text.startsWith("bkw_")) return isCredential("bkw_", text);
  return /^(?!bka_|bkt_)[\x21-\x7e]{32,128}$/.test(text);
}
