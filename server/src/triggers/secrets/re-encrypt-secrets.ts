import { createReEncrypt } from "../../base/secrets/index.ts";
import { bindingOfSenderSecret } from "./binding.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
}

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
export const reEncryptSenderSecrets = createReEncrypt<Row>(
  ...Object.entries(columns).map(([name, column]) => ({
    table: "triggers",
    column: name,
    key: { id: "text" } as const,
    otherColumns: ["workspace_id"] as const,
    bindingOf: ({ id: triggerId, workspace_id: workspaceId }: Row) =>
      bindingOfSenderSecret({ workspaceId, triggerId, column }),
  })),
);
