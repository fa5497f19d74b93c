import type { ProviderKind } from "@beckon/contract";
import type { OperatorProvider, OperatorProviders } from "../../base/context.ts";
import { rootOf } from "../address.ts";
import type { Discovery } from "./discovery.ts";

/** One account of the environment. */
export interface OperatorAccount {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

export interface OperatorAccounts {
  readonly openai: OperatorAccount;
  readonly anthropic: OperatorAccount;
  readonly google: OperatorAccount;
}

/** Milliseconds for which lists of providers and models show the result of one probe. */
const listedMs = 30_000;
/**
 * Milliseconds for which the result of one probe decides what a model's name means. Short, so that
 * a server that was just started can be used at once in every process, and that no prompt goes to
 * another program which has the port now.
 */
const namedMs = 1_000;

/**
 * Returns the operator's providers. Accounts are named `openai` and, with the same account over
 * chat completions, `openai-chat`, `anthropic`, `google`; an account needs a key, or the base URL
 * of a server that may need none. They belong to the workspace `default`, and to all if `shared`.
 * Model servers are named as `model-servers.ts` says and belong to `default` alone.
 *
 * All are called with the operator's credentials and past egress: the operator chose the address.
 *
 * @param options.discovery undefined: model servers are not looked for.
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
