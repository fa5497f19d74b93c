import {
  type Database,
  inAllWorkspaces,
  type WorkspaceTransaction,
} from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { FixedWindowCounter } from "../base/fixed-window.ts";
import type { Log } from "../base/log.ts";
import { type Compared, listCompared } from "./find-account.ts";
import { recordAccountAction } from "./record-account-action.ts";

/**
 * Writes wrong passwords to audit logs, of sign-ins and of people who are signed in. Several
 * accounts can have the e-mail of a sign-in. An entry is written for each account whose password
 * was compared, in each workspace of this account. If there are several and the attempt named no
 * workspace, the entries have no IP address: at most one of these workspaces is that of the person
 * who tried to sign in.
 */
export interface FailedSignIns {
  /**
   * Records that a wrong password was sent for this e-mail. Returns at once and writes the audit
   * entry later, because otherwise the response time would reveal whether the e-mail has an
   * account. The entry is lost if the process exits before the write.
   * @param attempt.address IP address of the client; null to record none.
   */
  note(attempt: Compared & { readonly address: string | null }): void;
  /**
   * Records that a wrong current password was sent with a session of this person. It may be that of
   * a browser which somebody else uses. Returns at once, as `note` does.
   */
  noteSignedIn(attempt: { readonly userId: string; readonly address: string }): void;
}

/**
 * Maximum entries per account, action and minute that are written to the audit log: enough to
 * notice an attack, too few to fill the log.
 */
const maxEntries = 10;
const windowMs = 60_000;
/**
 * Maximum number of counts at the same time. Beyond it, the least recently used count starts again
 * from 0.
 */
const maxCounts = 10_000;

/** Creates the recorder of wrong passwords. Failed writes are logged at level `warn`. */
export function createFailedSignIns(database: Database, log: Log): FailedSignIns {
  const counter = new FixedWindowCounter({ windowMs, maxKeys: maxCounts });
  const hasCapacity = (action: string, userId: string) =>
    counter.add(`${action} ${userId}`).count <= maxEntries;
  const write = (work: (tx: WorkspaceTransaction) => Promise<void>) => {
    inAllWorkspaces(database.tenant, work).catch((thrown) =>
      log.write("a wrong password was not written to the audit log", {
        reason: messageOf(thrown),
      }),
    );
  };
  return {
    note({ address, ...compared }) {
      write(async (tx) => {
        const accounts = await listCompared(tx, compared);
        const isShared = compared.workspaceId === undefined && accounts.length > 1;
        const action = "session.refuse";
        // The actor is unknown, so it is recorded as `system`.
        for (const { id } of accounts) {
          if (!hasCapacity(action, id)) continue;
          await recordAccountAction(
            tx,
            { userId: id, actor: { kind: "system" }, address: isShared ? null : address },
            { action, target: id },
          );
        }
      });
    },
    noteSignedIn({ userId, address }) {
      const action = "password.refuse";
      if (!hasCapacity(action, userId)) return;
      write((tx) => recordAccountAction(tx, { userId, address }, { action, target: userId }));
    },
  };
}
