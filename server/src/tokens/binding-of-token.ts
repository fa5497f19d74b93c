import type { SecretBinding } from "../base/secrets/index.ts";
import type { Subject } from "./store.ts";

/**
 * Returns what a token's encryption is bound to: its own row, including its hash. A ciphertext that
 * was copied from another row, even an earlier token of the same agent, cannot be decrypted.
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
