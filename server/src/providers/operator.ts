import type { ProviderKind } from "@beckon/contract";
import type { OperatorProvider, OperatorProviders } from "../base/context.ts";
import { rootOf } from "./address.ts";

/** What the environment says of one account. */
export interface OperatorAccount {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

export interface OperatorAccounts {
  readonly openai: OperatorAccount;
  readonly anthropic: OperatorAccount;
  readonly google: OperatorAccount;
}

/**
 * The operator's providers by their names: `openai` and, with the same account over chat completions, `openai-chat`, `anthropic`,
 * `google`. An account is there with a key, or with the base URL of a server that may need none.
 *
 * They are the workspace `default`'s, and every workspace's if `shared`. They are called with the operator's credentials and past
 * egress: the operator chose where they are.
 */
export function operatorProviders(
  accounts: OperatorAccounts,
  options: { defaultWorkspaceId: string; shared: boolean },
): OperatorProviders {
  const all = [
    ...providerOf("openai", accounts.openai),
    ...providerOf("openai-chat", accounts.openai),
    ...providerOf("anthropic", accounts.anthropic),
    ...providerOf("google", accounts.google),
  ];
  return {
    usableBy: (workspaceId) =>
      options.shared || workspaceId === options.defaultWorkspaceId ? all : [],
  };
}

function providerOf(
  kind: Exclude<ProviderKind, "openai-compatible">,
  { baseUrl, apiKey }: OperatorAccount,
): OperatorProvider[] {
  if (baseUrl === undefined && apiKey === undefined) return [];
  return [{ name: kind, kind, baseUrl: rootOf(kind, baseUrl), apiKey }];
}
