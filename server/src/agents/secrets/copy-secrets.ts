import type { SecretKept, ToolGrant } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import { bindingFor, encryptFor, type SecretCipher } from "../../base/secrets/index.ts";
import { type EncryptedSecret, mapValues, ownerOfSecret } from "../records/index.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

/**
 * Returns the tools with references to copies of their secrets, and the copies, encrypted for agent
 * `to` and the same origins. A reference to a deleted secret becomes a new reference without a
 * secret.
 * @throws ApiError `secret_unreadable` if one was encrypted with a master key that is lost.
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
  const copied = tools.map((grant, index) =>
    grant.type !== "http"
      ? grant
      : mapValues(grant, index, (value: string | SecretKept) =>
          typeof value === "string" ? value : { ...value, secret_id: copyOf(value.secret_id) },
        ),
  );
  return { tools: copied, write };
}
