import type { SecretBinding } from "../base/secrets/index.ts";
import type { Subject } from "./store.ts";

/**
 * Returns the values to which a token's encryption is bound: its workspace, its agent or trigger,
 * and its hash. A ciphertext that was copied from another row therefore cannot be decrypted, even
 * if it is an earlier token of the same agent.
 */
export function bindingOfToken({
  workspaceId,
  subject,
  hash,
}: {
  workspaceId: string;
  subject: Subject;
  hash: Buffer;
}): SecretBinding {
  return {
    workspaceId,
    kind: "token",
    row: `${subject.triggerId ?? subject.agentId} ${hash.toString("hex")}`,
    remedy: "It still works where it is used; rotate it to get a new one that can be shown.",
  };
}
