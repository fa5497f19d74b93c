import { onTestFinished } from "vitest";
import type { OperatorProviders } from "../src/base/context.ts";
import { createLog } from "../src/base/log.ts";
import { Discovery, operatorProviders } from "../src/providers/index.ts";
import { startModelServer } from "./model-server.ts";

/**
 * Starts a model server for each name, until the test ends, and returns the operator's providers of
 * the workspace, which are these servers.
 * @param onProbe called before each probe
 */
export async function probedOperator(
  workspaceId: string,
  names: readonly string[],
  onProbe: () => void,
): Promise<OperatorProviders> {
  const servers = await Promise.all(
    names.map(async (name) => {
      const server = await startModelServer();
      onTestFinished(() => server.close());
      return { name, port: Number(new URL(server.url).port), start: "Start it" };
    }),
  );
  const discovery = new Discovery({
    servers,
    ownPorts: new Set(),
    fetch: (...args) => {
      onProbe();
      return fetch(...args);
    },
    log: createLog("silent"),
    probeTimeoutMs: 20_000,
  });
  const none = { baseUrl: undefined, apiKey: undefined };
  return operatorProviders(
    { openai: none, anthropic: none, google: none },
    { defaultWorkspaceId: workspaceId, shared: false, discovery },
  );
}
