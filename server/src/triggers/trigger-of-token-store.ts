import type { Database } from "../base/database/index.ts";
import { isTriggerToken } from "../credentials/index.ts";

/** A trigger's settings as they are stored. */
export interface SettingsRow {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly trigger_id: string;
  readonly receiving_version: number;
  readonly receiving: unknown;
  readonly sender_secret: string | null;
  readonly previous_sender_secret: string | null;
  readonly previous_until_ms: string | null;
  readonly verify_token: string | null;
}

/** Returns the settings of the trigger of a token; undefined if the token is not valid. */
export async function readSettings(
  database: Database,
  tokenHash: Buffer,
): Promise<SettingsRow | undefined> {
  const { rows } = await database.engine.query<SettingsRow>({
    name: "read-trigger-settings",
    text: `select g.workspace_id, g.agent_id, g.id as trigger_id, g.receiving_version, g.receiving,
        g.sender_secret, g.previous_sender_secret,
        extract(epoch from g.previous_sender_secret_until) * 1000 as previous_until_ms,
        g.verify_token
      from tokens t
      join triggers g on g.id = t.trigger_id and g.workspace_id = t.workspace_id
      join agents a on a.id = t.agent_id and a.workspace_id = t.workspace_id
      where t.hash = $1 and ${isTriggerToken("t", "g", "a")}`,
    values: [tokenHash],
  });
  return rows[0];
}
