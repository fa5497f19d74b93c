import type { SecretOwner } from "../../base/secrets/index.ts";

/**
 * Returns the owner of a tool's secret: its workspace, agent and id. The encryption is bound to
 * this owner and to the secret's origins, so that a ciphertext that was copied from another row
 * cannot be decrypted.
 */
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
