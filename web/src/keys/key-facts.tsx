import type { Key } from "@beckon/client";
import type { ReactNode } from "react";
import { CopyButton, Id, Time } from "../ui/index.ts";
import { Creator } from "./creator.tsx";
import { ExpiryText } from "./expiry-text.tsx";
import { ScopeNames } from "./scopes-popover.tsx";
import { scopesText } from "./scopes-text.ts";
import { useNames } from "./use-names.ts";

/** All fields of a key except its secret, which is shown only once, when it is created. */
export function KeyFacts({ apiKey }: { readonly apiKey: Key }) {
  const { agent } = useNames();
  const { agent_ids: agentIds } = apiKey;
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-4 gap-y-2">
      <Fact term="Id">
        <span className="inline-flex items-center gap-1">
          <Id value={apiKey.id} />
          <CopyButton text={apiKey.id} what="key id" />
        </span>
      </Fact>
      <Fact term="Expires">
        <ExpiryText expiresAt={apiKey.expires_at} />
      </Fact>
      <Fact term="Last used">
        {apiKey.last_used_at === null ? "Never" : <Time value={apiKey.last_used_at} />}
      </Fact>
      <Fact term="Created">
        <Time value={apiKey.created_at} />
        {" by "}
        <Creator principal={apiKey.created_by} />
      </Fact>
      <Fact term="Agents">
        {agentIds === null ? (
          "All, also future ones"
        ) : (
          <ul>
            {agentIds.map((id) => (
              <li key={id} className="break-words">
                <bdi>{agent(id)}</bdi>
              </li>
            ))}
          </ul>
        )}
      </Fact>
      <Fact term="Can do">
        {scopesText(apiKey)}
        <ScopeNames scopes={apiKey.scopes} />
      </Fact>
    </dl>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
