import { createReEncrypt } from "../base/secrets/index.ts";
import { bindingOfKey } from "./provider.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly api_key_url: string | null;
}

/** Re-encrypts the keys of all providers with the new master key. */
export const reEncryptProviderKeys = createReEncrypt<Row>({
  table: "providers",
  column: "api_key_sealed",
  key: { id: "text", workspace_id: "text" },
  otherColumns: ["api_key_url"],
  bindingOf: bindingOfKey,
});
