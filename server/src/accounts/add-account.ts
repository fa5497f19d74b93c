import type { User } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertPassword } from "./password-store.ts";
import { insertUser } from "./store.ts";
import { toUser } from "./user.ts";

/** A new person, who may sign in; undefined when the e-mail has an account. There is no other way to one: sign-up is closed. */
export async function addAccount(
  tx: WorkspaceTransaction,
  given: { name: string; email: string; passwordHash: string },
): Promise<User | undefined> {
  const row = await insertUser(tx, { id: newId("usr"), name: given.name, email: given.email });
  if (row === undefined) return undefined;
  await insertPassword(tx, row.id, given.passwordHash);
  return toUser(row);
}
