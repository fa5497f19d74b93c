import type { Database } from "../base/database/index.ts";
import { Refusal } from "../base/errors.ts";
import type { Sealer } from "../base/secrets/index.ts";
import { placeOfSecret } from "./place-of-secret.ts";
import { findSecret } from "./secret-store.ts";

/**
 * A secret of a tool in clear, for the executing process and the origin it is about to be sent to; never for an answer.
 * @returns undefined when it was deleted, was not given for this origin, or was sealed with a master key that is lost.
 */
export async function openSecret(
  database: Database,
  sealer: Sealer,
  { origin, ...owner }: { readonly workspaceId: string; readonly agentId: string; readonly id: string; readonly origin: string },
): Promise<string | undefined> {
  const row = await findSecret(database, owner);
  if (row === undefined || !row.origins.includes(origin)) return undefined;
  try {
    return sealer.open(row.sealed, placeOfSecret({ ...owner, origins: row.origins }));
  } catch (thrown) {
    if (thrown instanceof Refusal) return undefined;
    throw thrown;
  }
}
