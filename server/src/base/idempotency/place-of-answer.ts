import type { SecretBinding } from "../secrets/index.ts";

/** What a stored answer is sealed to. */
export function placeOfAnswer(row: {
  readonly workspace_id: string;
  readonly scope: string;
  readonly key: string;
}): SecretBinding {
  return {
    workspaceId: row.workspace_id,
    kind: "stored answer",
    row: `${row.scope} ${row.key}`,
    remedy:
      "The request was carried out when it first came and is not carried out again. Look at what there is now, or use a new key.",
  };
}
