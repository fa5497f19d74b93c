import type { Key } from "@beckon/client";
import { Popover } from "../ui/index.ts";
import { scopeTexts } from "./scopes.ts";
import { scopesText } from "./scopes-text.ts";
import { ValueButton } from "./value-button.tsx";

/** Shows the permissions of a key in short. A click shows each scope with its meaning. */
export function ScopesPopover({ apiKey }: { readonly apiKey: Key }) {
  const text = scopesText(apiKey);
  return (
    <Popover
      label={`Scopes of ${apiKey.name}`}
      trigger={<ValueButton label={`Scopes of ${apiKey.name}: ${text}`}>{text}</ValueButton>}
    >
      <ScopeNames scopes={apiKey.scopes} />
    </Popover>
  );
}

/** Scopes with their meaning. */
export function ScopeNames({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <ul className="flex flex-col gap-1">
      {scopes.map((scope) => (
        <li key={scope} className="flex flex-col">
          <code className="font-mono text-dense">{scope}</code>
          <span className="text-label text-ink-3">
            {Object.hasOwn(scopeTexts, scope) ? scopeTexts[scope as keyof typeof scopeTexts] : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}
