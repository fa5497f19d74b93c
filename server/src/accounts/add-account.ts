import type { User } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertPassword } from "./password-store.ts";
import { insertUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Adds an account with a password. Other accounts can have the same e-mail. Accounts are only added
 * for the setup link and for invitations; there is no public sign-up.
 */
export async function addAccount(
  tx: WorkspaceTransaction,
  given: { name: string; email: string; passwordHash: string },
): Promise<User> {
  const row = await insertUser(tx, { id: newId("usr"), name: given.name, email: given.email });
  await insertPassword(tx, row.id, given.passwordHash);
  return toUser(row);
}
