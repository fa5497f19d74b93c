import type { ToolGrant } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import { bindingFor, encryptFor, type SecretCipher } from "../../base/secrets/index.ts";
import { type EncryptedSecret, mapValues, ownerOfSecret } from "../records/index.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

/**
 * Copies the secrets of an agent's tools for another agent.
 * @returns `write`: the copies, encrypted for agent `to` and for the same origins. `tools`: the
 *   tools with the ids of the copies. An id whose secret was deleted is replaced by a new id
 *   without a secret.
 * @throws ApiError `secret_unreadable` if a secret was encrypted with a master key that is lost.
 */
export function copySecrets(
  cipher: SecretCipher,
  tools: readonly ToolGrant[],
  secrets: readonly EncryptedSecret[],
  { from, to }: { readonly from: Owner; readonly to: Owner },
): { readonly tools: ToolGrant[]; readonly write: EncryptedSecret[] } {
  const copyIds = new Map<string, string>();
  const write: EncryptedSecret[] = [];
  const copyOf = (id: string): string => {
    const existing = copyIds.get(id);
    if (existing !== undefined) return existing;
    const copyId = newId("sec");
    copyIds.set(id, copyId);
    const secret = secrets.find((each) => each.id === id);
    if (secret !== undefined) {
      const { origins, last4 } = secret;
      const plaintext = cipher.decrypt(
        secret.sealed,
        bindingFor(ownerOfSecret({ ...from, id }), origins),
      );
      write.push({
        id: copyId,
        origins,
        sealed: encryptFor(cipher, plaintext, ownerOfSecret({ ...to, id: copyId }), origins),
        last4,
      });
    }
    return copyId;
  };
  const copied = mapValues(tools, (value) =>
    typeof value === "string" ? value : { ...value, secret_id: copyOf(value.secret_id) },
  );
  return { tools: copied, write };
}
