import type { Provider } from "@beckon/contract";
import { Refusal } from "../base/errors.ts";
import type { Place, Sealer } from "../base/secrets/index.ts";
import type { ProviderRow, SealedKey } from "./store.ts";

/** Names that cannot be taken: `demo` is built in. Those of the operator's providers can: the workspace's own then goes before. */
export const reservedNames = ["demo"];

export function toProvider(row: ProviderRow): Provider {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    base_url: row.base_url,
    api_key_last4: row.api_key_last4,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** What a provider's key is sealed to. */
export function placeOfKey({ workspaceId, id }: { readonly workspaceId: string; readonly id: string }): Place {
  return {
    workspaceId,
    kind: "provider key",
    row: id,
    remedy: "Set the provider's api_key again.",
  };
}

export function sealKey(sealer: Sealer, provider: { workspaceId: string; id: string }, key: string | null | undefined): SealedKey {
  if (key == null) return { api_key_sealed: null, api_key_last4: null };
  // Of a very short key the last four would be most of it.
  return { api_key_sealed: sealer.seal(key, placeOfKey(provider)), api_key_last4: key.length >= 12 ? key.slice(-4) : "" };
}

export function openKey(sealer: Sealer, row: Pick<ProviderRow, "id" | "workspace_id" | "api_key_sealed">): string | undefined {
  if (row.api_key_sealed === null) return undefined;
  return sealer.open(row.api_key_sealed, placeOfKey({ workspaceId: row.workspace_id, id: row.id }));
}

export function noProvider(): Refusal {
  return new Refusal("not_found", "There is no provider with this id in this workspace.");
}
