import { deliveredEvent } from "@beckon/contract";
import type { Pool } from "pg";
import { newId } from "../src/base/ids.ts";
import { createSecretCipher, parseMasterKey } from "../src/base/secrets/index.ts";
import { encryptHeaders, encryptSigningSecret, newSigningSecret } from "../src/deliveries/index.ts";

/** A subscription and its secret. */
export interface Subscribed {
  readonly id: string;
  readonly workspaceId: string;
  readonly secret: string;
}

export interface SubscribeOptions {
  readonly url: string;
  /** Default: the oldest workspace. */
  readonly workspaceId?: string;
  readonly eventTypes?: readonly string[];
  readonly agentIds?: readonly string[] | null;
  readonly triggerIds?: readonly string[] | null;
  readonly tags?: readonly string[] | null;
  readonly payload?: "full" | "thin";
  readonly format?: "standard" | "cloudevents";
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: "enabled" | "paused";
}

/**
 * Inserts a subscription directly into the database. Tests of deliveries do not need the checks of
 * the REST route, which take time.
 */
export async function subscribe(
  pool: Pick<Pool, "query">,
  masterKey: string | undefined,
  options: SubscribeOptions,
): Promise<Subscribed> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from workspaces order by created_at, id limit 1",
  );
  const workspaceId = options.workspaceId ?? rows[0]?.id ?? "";
  const id = newId("sub");
  const cipher = createSecretCipher(parseMasterKey(masterKey ?? "0".repeat(64)));
  const secret = newSigningSecret();
  const url = new URL(options.url).href;
  const owner = { id, workspace_id: workspaceId, url };
  const headers = options.headers ?? {};
  const status = options.status ?? "enabled";
  await pool.query(
    `insert into subscriptions (id, workspace_id, url, description, event_types, agent_ids,
       trigger_ids, tags, payload, format, secret, headers, header_names, status, inactive_since,
       created_by)
     values ($1, $2, $3, '', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       case when $13 = 'enabled' then null else now() end, 'system')`,
    [
      id,
      workspaceId,
      url,
      options.eventTypes ?? deliveredEvent.options,
      options.agentIds ?? null,
      options.triggerIds ?? null,
      options.tags ?? null,
      options.payload ?? "full",
      options.format ?? "standard",
      encryptSigningSecret(cipher, owner, secret),
      encryptHeaders(cipher, owner, headers),
      Object.keys(headers),
      status,
    ],
  );
  return { id, workspaceId, secret };
}
