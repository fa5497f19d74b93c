import type { Place } from "../base/secrets/index.ts";

/** What a tool's secret is sealed to: moved to another agent, or with other origins beside it, it does not open. */
export function placeOfSecret(secret: {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly id: string;
  readonly origins: readonly string[];
}): Place {
  const { workspaceId, agentId, id, origins } = secret;
  return {
    workspaceId,
    kind: "tool secret",
    row: JSON.stringify([agentId, id, ...origins]),
    remedy: "Give the tool's secret again.",
  };
}
