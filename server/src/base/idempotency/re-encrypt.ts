import { createReEncrypt } from "../secrets/index.ts";
import { responseBinding } from "./response-binding.ts";

interface Row {
  readonly workspace_id: string;
  readonly scope: string;
  readonly key: string;
}

/** Re-encrypts the stored responses with the new master key. */
export const reEncryptResponses = createReEncrypt<Row>({
  table: "idempotency",
  column: "answer",
  key: { workspace_id: "text", scope: "text", key: "text" },
  bindingOf: responseBinding,
});
