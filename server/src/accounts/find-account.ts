import type { User } from "@beckon/contract";
import {
  type Database,
  inAllWorkspaces,
  type WorkspaceTransaction,
} from "../base/database/index.ts";
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

/** The accounts with which the password of an attempt is compared. */
export interface Compared {
  readonly email: string;
  /** Only the member of this workspace is compared; undefined for no restriction. */
  readonly workspaceId?: string | undefined;
  /** The member of this workspace is compared first. Ignored if `workspaceId` is given. */
  readonly preferredWorkspaceId?: string | undefined;
}

/**
 * Maximum number of oldest accounts that are compared per attempt. Without it, the number would
 * have no limit, because any number of accounts can have the same e-mail.
 */
const maxOldest = 4;

/**
 * Returns the accounts with which the password of an attempt is compared: the member of the
 * preferred workspace, then the oldest ones.
 */
export async function listCompared(
  tx: WorkspaceTransaction,
  { email, workspaceId, preferredWorkspaceId }: Compared,
): ReturnType<typeof listAccounts> {
  const oldest = await listAccounts(tx, { email, workspaceId, max: maxOldest });
  if (workspaceId !== undefined || preferredWorkspaceId === undefined) return oldest;
  const preferred = await listAccounts(tx, { email, workspaceId: preferredWorkspaceId, max: 1 });
  return [...preferred, ...oldest.filter(({ id }) => id !== preferred[0]?.id)];
}

/**
 * Finds the account with this e-mail and password; the first of `listCompared` if several match.
 * The duration does not depend on the number of accounts, so it does not reveal whether the e-mail
 * has one.
 * @returns The account, or undefined if none matches. `isKnown`: whether there was an account to
 *   compare the password with.
 * @throws ApiError `unavailable` if too many passwords are being compared.
 */
export async function findAccount(
  { database, address }: { readonly database: Database; readonly address: string },
  { password, ...compared }: Compared & { readonly password: string },
): Promise<{ account: FoundAccount | undefined; isKnown: boolean }> {
  const rows = await inAllWorkspaces(database.tenant, (tx) => listCompared(tx, compared));
  const hashes = rows.map((row) => row.password);
  const row = rows[await matchPassword(hashes, { password, count: countOf(compared), address })];
  return {
    account: row?.password == null ? undefined : { user: toUser(row), passwordHash: row.password },
    isKnown: rows.length > 0,
  };
}

/** Returns how many passwords are compared. Depends only on what was sent. */
function countOf({ workspaceId, preferredWorkspaceId }: Compared): number {
  if (workspaceId !== undefined) return 1;
  return preferredWorkspaceId === undefined ? maxOldest : maxOldest + 1;
}
