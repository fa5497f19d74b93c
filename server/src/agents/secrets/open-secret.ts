import type { Database } from "../../base/database/index.ts";
import { attempt } from "../../base/errors.ts";
import { decryptFor, type SecretCipher } from "../../base/secrets/index.ts";
import { findSecret, ownerOfSecret } from "../records/index.ts";

/**
 * A secret of a tool in clear, for the executing process and the origin it is about to be sent to; never for an answer.
 * @returns undefined when it was deleted, was not given for this origin, or was sealed with a master key that is lost.
 */
export async function openSecret(
  database: Database,
  cipher: SecretCipher,
  {
    origin,
    ...owner
  }: {
    readonly workspaceId: string;
    readonly agentId: string;
    readonly id: string;
    readonly origin: string;
  },
): Promise<string | undefined> {
  const row = await findSecret(database, owner);
  if (row === undefined) return undefined;
  const opened = attempt(() => decryptFor(cipher, row, ownerOfSecret(owner), origin));
  return opened.ok ? opened.value : undefined;
}
