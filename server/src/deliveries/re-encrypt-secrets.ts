import { createReEncrypt } from "../base/secrets/index.ts";
import { bindingOf, type SubscriptionOwner } from "./secrets.ts";

/** Columns with encrypted texts, and what each contains. */
const columns = { secret: "secret", previous_secret: "secret", headers: "headers" } as const;

/** Re-encrypts the secrets and the extra headers of all subscriptions with the new master key. */
export const reEncryptSubscriptions = createReEncrypt<SubscriptionOwner>(
  ...Object.entries(columns).map(([column, kind]) => ({
    table: "subscriptions",
    column,
    key: { id: "text", workspace_id: "text" } as const,
    otherColumns: ["url"] as const,
    bindingOf: (row: SubscriptionOwner) => bindingOf(kind, row),
  })),
);
