import { type Receiving, receiving } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import { bindingOfSenderSecret, readableText } from "./secrets/index.ts";
import { readSettings } from "./trigger-of-token-store.ts";

/** The trigger that a token belongs to. */
export interface TriggerOfToken {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly triggerId: string;
  /** Changes whenever the settings or the secrets change. */
  readonly version: number;
  /** undefined for a trigger whose `receiving` is null. */
  readonly settings: TriggerSettings | undefined;
}

/** The settings of a trigger, with the decrypted secrets. */
export interface TriggerSettings {
  readonly receiving: Receiving;
  readonly secret: string | null;
  readonly previousSecret: string | null;
  /** Unix time in milliseconds until which the previous secret is valid. */
  readonly previousSecretUntilMs: number;
  readonly verifyToken: string | null;
}

/**
 * Returns the trigger of a token, as it is stored now; undefined if the token is not valid. A
 * secret that cannot be decrypted is null, so that requests which need it are rejected.
 */
export async function readTriggerOfToken(
  { database, cipher }: { readonly database: Database; readonly cipher: SecretCipher },
  tokenHash: Buffer,
): Promise<TriggerOfToken | undefined> {
  const row = await readSettings(database, tokenHash);
  if (row === undefined) return undefined;
  const ids = { workspaceId: row.workspace_id, agentId: row.agent_id, triggerId: row.trigger_id };
  const version = row.receiving_version;
  if (row.receiving === null) return { ...ids, version, settings: undefined };
  const senderSecret = bindingOfSenderSecret({ ...ids, column: "sender_secret" });
  return {
    ...ids,
    version,
    settings: {
      receiving: receiving.parse(row.receiving),
      secret: readableText(cipher, row.sender_secret, senderSecret),
      previousSecret: readableText(cipher, row.previous_sender_secret, senderSecret),
      previousSecretUntilMs: Number(row.previous_until_ms ?? 0),
      verifyToken: readableText(
        cipher,
        row.verify_token,
        bindingOfSenderSecret({ ...ids, column: "verify_token" }),
      ),
    },
  };
}
