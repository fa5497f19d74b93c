import type { OperatorProvider } from "../base/context.ts";
import { createLeanFetch } from "../base/egress/index.ts";
import { createLog } from "../base/log.ts";
import type { Config } from "../config.ts";
import {
  Discovery,
  type FetchedModels,
  ModelLists,
  modelServers,
  operatorProviders,
} from "../providers/index.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { type ClockReading, readingOf } from "./clock.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const timeoutMs = 10_000;

/** Requests the list of models of each of the operator's providers. The request costs nothing. */
export async function checkProviders(config: Config): Promise<{
  readonly findings: readonly Finding[];
  readonly readings: readonly ClockReading[];
}> {
  const unrestricted = createLeanFetch({
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
  });
  try {
    const discovery = config.discover
      ? new Discovery({
          servers: modelServers,
          ownPorts: new Set([config.port]),
          fetch: unrestricted.fetch,
          log: createLog("silent"),
        })
      : undefined;
    const operator = operatorProviders(config.accounts, {
      defaultWorkspaceId,
      shared: config.shareProviders,
      discovery,
    });
    await operator.probe(defaultWorkspaceId);
    const providers = operator.usableBy(defaultWorkspaceId);
    if (providers.length === 0) return { findings: [noProvider], readings: [] };
    const checks = await Promise.all(
      providers.map((provider) => checkProvider(provider, unrestricted.fetch)),
    );
    return {
      findings: checks.map(({ finding }) => finding),
      readings: checks.flatMap(({ readings }) => readings),
    };
  } finally {
    await unrestricted.close();
  }
}

const noProvider = warning(
  "providers",
  "The settings name no provider and no model server runs on this machine, so only the offline " +
    "model demo/echo and the workspaces' own providers can be used.",
  "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, start a model server, " +
    "or add a provider with POST /api/public/providers.",
);

async function checkProvider(
  provider: OperatorProvider,
  fetch: typeof globalThis.fetch,
): Promise<{ finding: Finding; readings: readonly ClockReading[] }> {
  const { name, models: discovered } = provider;
  if (discovered !== undefined) return { finding: works(name, discovered.length), readings: [] };
  let readings: readonly ClockReading[] = [];
  const list = await new ModelLists().fetch(
    provider,
    {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        readings = readingOf(`provider ${name}`, response.headers.get("date"), Date.now());
        return response;
      },
    },
    timeoutMs,
  );
  return { finding: findingOf(name, list), readings };
}

function findingOf(name: string, list: FetchedModels): Finding {
  if (list.error === null) return works(name, list.models.length);
  if (list.hasNoList)
    return warning(
      "providers",
      `The provider ${name} may not work. ${list.error}`,
      "Check its base URL.",
    );
  return problem("providers", {
    message: `The provider ${name} cannot be used. ${list.error}`,
    remedy: list.error.includes("key")
      ? "Correct its key: docs/settings.md names the setting of each provider."
      : "Check its base URL, and that this machine can connect to it directly.",
  });
}

function works(name: string, models: number): Finding {
  return ok("providers", `The provider ${name} responds and lists ${models} models.`);
}
