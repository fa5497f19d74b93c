import type { Key } from "@beckon/client";
import { CopyButton, Id, Term, Time } from "../ui/index.ts";
import { Creator } from "./creator.tsx";
import { ExpiryText } from "./expiry-text.tsx";
import { ScopeNames } from "./scopes-popover.tsx";
import { scopesText } from "./scopes-text.ts";
import { useNameOf } from "./use-name-of.ts";

/** All fields of a key except its secret, which is shown only once, when it is created. */
export function KeyFacts({ apiKey }: { readonly apiKey: Key }) {
  const { agent } = useNameOf();
  const { agent_ids: agentIds } = apiKey;
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-4 gap-y-2">
      <Term name="Id">
        <span className="inline-flex items-center gap-1">
          <Id value={apiKey.id} />
          <CopyButton text={apiKey.id} what="key id" />
        </span>
      </Term>
      <Term name="Expires">
        <ExpiryText expiresAt={apiKey.expires_at} />
      </Term>
      <Term name="Last used">
        {apiKey.last_used_at === null ? "Never" : <Time value={apiKey.last_used_at} />}
      </Term>
      <Term name="Created">
        <Time value={apiKey.created_at} />
        {" by "}
        <Creator principal={apiKey.created_by} />
      </Term>
      <Term name="Agents">
        {agentIds === null ? (
          "All, also future ones"
        ) : (
          <ul>
            {agentIds.map((id) => (
              <li key={id}>
                <bdi>{agent(id)}</bdi>
              </li>
            ))}
          </ul>
        )}
      </Term>
      <Term name="Can do">
        {scopesText(apiKey)}
        <ScopeNames scopes={apiKey.scopes} />
      </Term>
    </dl>
  );
}
