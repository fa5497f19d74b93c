import {
  type MasterKeyChange,
  type Queryable,
  type ReEncryption,
  reEncryptColumn,
} from "../base/secrets/index.ts";
import { bindingOf, type SubscriptionOwner } from "./secrets.ts";

/** Columns with encrypted texts, and what each contains. */
const columns = { secret: "secret", previous_secret: "secret", headers: "headers" } as const;

/** Re-encrypts the secrets and the extra headers of all subscriptions with the new master key. */
export async function reEncryptSubscriptions(
  client: Queryable,
  keys: MasterKeyChange,
): Promise<ReEncryption> {
  const table = "subscriptions";
  const total = { table, reEncrypted: 0, unreadable: 0 };
  for (const [column, kind] of Object.entries(columns)) {
    const { reEncrypted, unreadable } = await reEncryptColumn<SubscriptionOwner>(
      client,
      {
        table,
        column,
        key: { id: "text", workspace_id: "text" },
        otherColumns: ["url"],
        bindingOf: (row) => bindingOf(kind, row),
      },
      keys,
    );
    total.reEncrypted += reEncrypted;
    total.unreadable += unreadable;
  }
  return total;
}
