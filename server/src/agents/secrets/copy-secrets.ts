import type { SecretKept, ToolGrant } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import { bindingFor, encryptFor, type SecretCipher } from "../../base/secrets/index.ts";
import type { SealedSecret } from "../records/index.ts";
import { mapValues, ownerOfSecret } from "../records/index.ts";

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

/**
 * The tools with references to copies of their secrets, and these, sealed for the other agent and the same origins: a secret never goes
 * where it was not given for. A reference to one that is gone stays a reference to nothing.
 * @throws ApiError `secret_unreadable` for one that was sealed with a master key that is lost.
 */
export function copySecrets(
  cipher: SecretCipher,
  tools: readonly ToolGrant[],
  secrets: readonly SealedSecret[],
  { from, to }: { readonly from: Owner; readonly to: Owner },
): { readonly tools: ToolGrant[]; readonly write: SealedSecret[] } {
  const copies = new Map<string, string>();
  const write: SealedSecret[] = [];
  const copyOf = (id: string): string => {
    const copied = copies.get(id);
    if (copied !== undefined) return copied;
    const copy = newId("sec");
    copies.set(id, copy);
    const secret = secrets.find((each) => each.id === id);
    if (secret !== undefined) {
      const { origins, last4 } = secret;
      const clear = cipher.decrypt(
        secret.sealed,
        bindingFor(ownerOfSecret({ ...from, id }), origins),
      );
      write.push({
        id: copy,
        origins,
        sealed: encryptFor(cipher, clear, ownerOfSecret({ ...to, id: copy }), origins),
        last4,
      });
    }
    return copy;
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
