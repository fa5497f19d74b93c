import type { User } from "@beckon/contract";
import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { matchPassword } from "./hash-password.ts";
import { listAccounts } from "./password-store.ts";
import { toUser } from "./user.ts";

/**
 * An account, and the hash that the password matched. The account's password may have been changed
 * after this comparison. Before using the account, callers must therefore lock its password and
 * check that it still has this hash.
 */
export interface FoundAccount {
  readonly user: User;
  readonly passwordHash: string;
}

/**
 * Maximum password comparisons per attempt. Without it, the number would have no limit, because any
 * number of accounts can have the same e-mail.
 */
export const maxCompared = 4;

/**
 * Finds the account with this e-mail and password; the oldest if several match. Compares the
 * password with the `maxCompared` oldest accounts with this e-mail or, if `workspaceId` is given,
 * only with the member of this workspace with this e-mail. The duration does not depend on the
 * number of accounts, so it does not reveal whether the e-mail has one.
 * @returns The account, or undefined if none matches. `isKnown`: whether there was an account to
 *   compare the password with.
 * @throws ApiError `unavailable` if too many passwords are being compared.
 */
export async function findAccount(
  { database, address }: { readonly database: Database; readonly address: string },
  {
    email,
    password,
    workspaceId,
  }: { email: string; password: string; workspaceId?: string | undefined },
): Promise<{ account: FoundAccount | undefined; isKnown: boolean }> {
  const max = workspaceId === undefined ? maxCompared : 1;
  const rows = await inAllWorkspaces(database.tenant, (tx) =>
    listAccounts(tx, { email, workspaceId, max }),
  );
  const hashes = rows.map((row) => row.password);
  const row = rows[await matchPassword(hashes, { password, count: max, address })];
  return {
    account: row?.password == null ? undefined : { user: toUser(row), passwordHash: row.password },
    isKnown: rows.length > 0,
  };
}
