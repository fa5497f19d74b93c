import type { AgentConfig } from "@beckon/contract";
import { withDefaultLimits } from "../../agents/index.ts";
import type { Database } from "../../base/database/index.ts";
import type { RunRef } from "../run.ts";

/** The configuration that is stored with a draft run. */
export interface StoredDraft {
  readonly config: AgentConfig;
  /** The provider of the model; null unless the workspace configured it. */
  readonly providerId: string | null;
  /** Text that changes whenever the provider is changed; null without `providerId`. */
  readonly providerStamp: string | null;
  /** Size of the configuration as JSON, in bytes. */
  readonly bytes: number;
}

/** Returns the configuration of a draft run; undefined if the run is not a draft run. */
export async function readDraft(
  database: Database,
  { runId, workspaceId }: RunRef,
): Promise<StoredDraft | undefined> {
  const { rows } = await database.engine.query<{
    config: AgentConfig;
    provider_id: string | null;
    provider_stamp: string | null;
    bytes: number;
  }>({
    name: "read-draft",
    text: `select ${withDefaultLimits("d.config")} as config, d.provider_id,
        extract(epoch from p.updated_at)::text as provider_stamp,
        octet_length(d.config::text) as bytes
      from run_drafts d
        left join providers p on p.id = d.provider_id and p.workspace_id = d.workspace_id
      where d.run_id = $1 and d.workspace_id = $2`,
    values: [runId, workspaceId],
  });
  const row = rows[0];
  return (
    row && {
      config: row.config,
      providerId: row.provider_id,
      providerStamp: row.provider_stamp,
      bytes: row.bytes,
    }
  );
}
