import type { ProviderKind } from "@beckon/contract";
import type { OperatorProvider, OperatorProviders } from "../../base/context.ts";
import { rootOf } from "../address.ts";
import type { Discovery } from "./discovery.ts";

/** The operator's account at a model provider, as the server's environment defines it. */
export interface OperatorAccount {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

export interface OperatorAccounts {
  readonly openai: OperatorAccount;
  readonly anthropic: OperatorAccount;
  readonly google: OperatorAccount;
}

/** Maximum age of a probe whose result is used to list providers and models. */
const listedMs = 30_000;
/**
 * Maximum age of a probe whose result is used to find a provider by its name. This age is short for
 * two reasons: a server that was just started can be used in every process almost at once, and a
 * prompt is unlikely to be sent to another program that has taken the port of a stopped server.
 */
const namedMs = 1_000;

/**
 * Returns the operator's providers, which are accounts and model servers.
 *
 * The names of accounts are `openai`, `openai-chat` (the account of `openai`, called through the
 * chat completions API), `anthropic` and `google`. An account exists if its key or its base URL is
 * set: a server at another base URL may need no key. The workspace `default` can use the accounts,
 * and so can all other workspaces if `shared` is true. Model servers have the names in
 * `model-servers.ts`. Only the workspace `default` can use them.
 *
 * All these providers are called with the operator's credentials and without the egress rules,
 * because the operator chose their addresses.
 *
 * @param options.discovery finds the model servers. If it is undefined, there are none.
 */
export function operatorProviders(
  accounts: OperatorAccounts,
  options: { defaultWorkspaceId: string; shared: boolean; discovery: Discovery | undefined },
): OperatorProviders {
  const { defaultWorkspaceId, shared, discovery } = options;
  const environment = [
    ...accountProvider("openai", accounts.openai),
    ...accountProvider("openai-chat", accounts.openai),
    ...accountProvider("anthropic", accounts.anthropic),
    ...accountProvider("google", accounts.google),
  ];
  const usableBy = (workspaceId: string) =>
    workspaceId === defaultWorkspaceId
      ? [...environment, ...(discovery?.found ?? [])]
      : shared
        ? environment
        : [];
  const serverOf = (workspaceId: string, name: string) =>
    workspaceId === defaultWorkspaceId ? discovery?.serverOf(name) : undefined;
  return {
    workspaceId: defaultWorkspaceId,
    usableBy,
    async find(workspaceId, name) {
      const server = serverOf(workspaceId, name);
      if (server !== undefined) await discovery?.probe(namedMs, [server]);
      return usableBy(workspaceId).find((provider) => provider.name === name);
    },
    async probe(workspaceId) {
      if (workspaceId === defaultWorkspaceId) await discovery?.probe(listedMs);
    },
    isModelServer: (workspaceId, name) => serverOf(workspaceId, name) !== undefined,
    absence(workspaceId, name) {
      const server = serverOf(workspaceId, name);
      return server && `No model server ${name} answers on Beckon's machine. ${server.start}.`;
    },
  };
}

function accountProvider(
  kind: Exclude<ProviderKind, "openai-compatible">,
  { baseUrl, apiKey }: OperatorAccount,
): OperatorProvider[] {
  if (baseUrl === undefined && apiKey === undefined) return [];
  return [{ name: kind, kind, origin: "environment", baseUrl: rootOf(kind, baseUrl), apiKey }];
}
