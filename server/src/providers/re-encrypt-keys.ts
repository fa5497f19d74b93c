import {
  type MasterKeyChange,
  type Queryable,
  type ReEncryption,
  reEncryptColumn,
} from "../base/secrets/index.ts";
import { bindingOfKey } from "./provider.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly api_key_url: string | null;
}

/** Re-encrypts the keys of all providers with the new master key. */
export function reEncryptProviderKeys(
  client: Queryable,
  keys: MasterKeyChange,
): Promise<ReEncryption> {
  return reEncryptColumn<Row>(
    client,
    {
      table: "providers",
      column: "api_key_sealed",
      key: { id: "text", workspace_id: "text" },
      otherColumns: ["api_key_url"],
      bindingOf: bindingOfKey,
    },
    keys,
  );
}
