import type { SecretOwner } from "../../base/secrets/index.ts";

/** The owner that a tool's secret is encrypted for, in addition to its origins. */
export function ownerOfSecret(secret: {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly id: string;
}): SecretOwner {
  const { workspaceId, agentId, id } = secret;
  return {
    workspaceId,
    kind: "tool secret",
    row: [agentId, id],
    remedy: "Give the tool's secret again.",
  };
}
