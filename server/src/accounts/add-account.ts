import type { User } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertPassword } from "./password-store.ts";
import { insertUser } from "./store.ts";
import { toUser } from "./user.ts";

/**
 * Adds a person, who can sign in, whoever else has the e-mail. There is no other way to an account:
 * sign-up is closed.
 */
export async function addAccount(
  tx: WorkspaceTransaction,
  given: { name: string; email: string; passwordHash: string },
): Promise<User> {
  const row = await insertUser(tx, { id: newId("usr"), name: given.name, email: given.email });
  await insertPassword(tx, row.id, given.passwordHash);
  return toUser(row);
}
