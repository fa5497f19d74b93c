import type { SecretBinding } from "../secrets/index.ts";

/** Returns the `SecretBinding` with which the stored response of a row is encrypted. */
export function responseBinding(row: {
  readonly workspace_id: string;
  readonly scope: string;
  readonly key: string;
}): SecretBinding {
  return {
    workspaceId: row.workspace_id,
    // `kind` and `row` are part of the encryption's authenticated data. If this code built other
    // values, the responses that are already stored could not be decrypted.
    kind: "stored answer",
    row: `${row.scope} ${row.key}`,
    remedy:
      "The request was executed when it was first sent and is not executed again. Read the " +
      "current state, or use a new key.",
  };
}
