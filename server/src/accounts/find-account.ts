import type { User } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { verifyPassword } from "./hash-password.ts";
import { findPassword } from "./password-store.ts";
import { findUserByEmail } from "./store.ts";
import { toUser } from "./user.ts";

/** The person with this e-mail, and what proves a password of theirs. */
export interface FoundAccount {
  readonly user: User;
  isPassword(password: string): Promise<boolean>;
}

/** Finds the account of an e-mail, with a check of its password. */
export async function findAccount(tx: WorkspaceTransaction, email: string): Promise<FoundAccount | undefined> {
  const row = await findUserByEmail(tx, email);
  if (row === undefined) return undefined;
  const hash = await findPassword(tx, row.id);
  return { user: toUser(row), isPassword: async (password) => hash !== undefined && verifyPassword({ hash, password }) };
}
