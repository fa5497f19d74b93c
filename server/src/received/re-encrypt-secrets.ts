import {
  type MasterKeyChange,
  type Queryable,
  type ReEncryption,
  reEncryptColumn,
} from "../base/secrets/index.ts";
import { bindingOfSenderSecret } from "./secret-binding.ts";

/**
 * Maps each encrypted column to the column name in its additional authenticated data. The previous
 * secret keeps the name that it had as the current secret.
 */
const columns = {
  sender_secret: "sender_secret",
  previous_sender_secret: "sender_secret",
  verify_token: "verify_token",
} as const;

/** Re-encrypts the sender secrets and verify tokens of all triggers with the new master key. */
export async function reEncryptSenderSecrets(
  client: Queryable,
  keys: MasterKeyChange,
): Promise<ReEncryption> {
  const table = "triggers";
  const total = { table, reEncrypted: 0, unreadable: 0 };
  for (const [name, column] of Object.entries(columns)) {
    const { reEncrypted, unreadable } = await reEncryptColumn<{
      readonly id: string;
      readonly workspace_id: string;
    }>(
      client,
      {
        table,
        column: name,
        key: { id: "text" },
        otherColumns: ["workspace_id"],
        bindingOf: ({ id: triggerId, workspace_id: workspaceId }) =>
          bindingOfSenderSecret({ workspaceId, triggerId, column }),
      },
      keys,
    );
    total.reEncrypted += reEncrypted;
    total.unreadable += unreadable;
  }
  return total;
}
