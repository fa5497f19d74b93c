import type { Provider } from "@beckon/client";
import { kindLabel } from "../kinds.ts";

/** The API, the address and the key of a provider in one line, and whether it is free. */
export function ProviderFacts({ provider }: { readonly provider: Provider }) {
  const { kind, base_url: address } = provider;
  const key = keyText(provider);
  return (
    <p className="flex min-w-0 flex-wrap gap-x-3 text-dense text-ink-2">
      <span>{kindLabel(kind)}</span>
      {address === null ? null : (
        <span className="min-w-0 truncate font-mono" title={address}>
          {address}
        </span>
      )}
      {key === undefined ? null : <span>{key}</span>}
      {provider.free ? <span>free</span> : null}
    </p>
  );
}

/**
 * Returns the text for a provider's key. For the operator's providers it is undefined, because not
 * even the existence of their keys is shown.
 */
function keyText({ origin, api_key_last4: end }: Provider): string | undefined {
  if (origin !== "workspace") return undefined;
  if (end === null) return "no key";
  return end === "" ? "key stored" : `key ends in ${end}`;
}
