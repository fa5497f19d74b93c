import type { SecretBinding } from "../secrets/index.ts";

/** Returns the binding of a stored response. */
export function responseBinding(row: {
  readonly workspace_id: string;
  readonly scope: string;
  readonly key: string;
}): SecretBinding {
  return {
    workspaceId: row.workspace_id,
    // Part of the authenticated data of stored rows: it must not change.
    kind: "stored answer",
    row: `${row.scope} ${row.key}`,
    remedy:
      "The request was executed when it was first sent and is not executed again. Read the " +
      "current state, or use a new key.",
  };
}
