import type { Database } from "../../base/database/index.ts";
import { attempt } from "../../base/errors.ts";
import { decryptFor, type SecretCipher } from "../../base/secrets/index.ts";
import { findSecret, ownerOfSecret } from "../records/index.ts";

/**
 * Decrypts a tool's secret for a request to `origin`. The plain text must not be part of a response
 * or of an event.
 * @returns The plain text; undefined if the secret was deleted, must not be sent to `origin`, or
 *   was encrypted with a master key that is lost.
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
  const decrypted = attempt(() => decryptFor(cipher, row, ownerOfSecret(owner), origin));
  return decrypted.ok ? decrypted.value : undefined;
}
