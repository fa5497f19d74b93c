import type { User } from "@beckon/contract";
import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { matchPassword } from "./hash-password.ts";
import { listAccounts } from "./password-store.ts";
import { toUser } from "./user.ts";

/**
 * An account, with the hash that its password was compared to: it can change before the account is
 * used.
 */
export interface FoundAccount {
  readonly user: User;
  readonly passwordHash: string;
}

/**
 * An address can have any number of accounts, and a guess costs no more than this many comparisons.
 */
export const maxCompared = 4;

/**
 * Finds the account with this e-mail and password, the oldest if several have them: among the
 * oldest `maxCompared`, or with a workspace its one member with this e-mail. Time does not tell how
 * many there are.
 * @returns also whether there was any account to compare.
 */
export async function findAccount(
  database: Database,
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
  const row = rows[await matchPassword(hashes, { password, count: max })];
  return {
    account: row?.password == null ? undefined : { user: toUser(row), passwordHash: row.password },
    isKnown: rows.length > 0,
  };
}
