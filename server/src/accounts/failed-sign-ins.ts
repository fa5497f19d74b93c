import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { FixedWindowCounter } from "../base/fixed-window.ts";
import type { Log } from "../base/log.ts";
import { type Compared, listCompared } from "./find-account.ts";
import { recordAccountAction } from "./record-account-action.ts";

/**
 * Writes failed sign-ins to audit logs. Several accounts can have the same e-mail. An entry is
 * written for each account whose password was compared, in each workspace of this account. If there
 * are several and the attempt named no workspace, the entries have no IP address: at most one of
 * these workspaces is that of the person who tried to sign in.
 */
export interface FailedSignIns {
  /**
   * Records that a wrong password was sent for this e-mail. Returns at once and writes the audit
   * entry later, because otherwise the response time would reveal whether the e-mail has an
   * account. The entry is lost if the process exits before the write.
   * @param attempt.address IP address of the client; null to record none.
   */
  note(attempt: Compared & { readonly address: string | null }): void;
}

/**
 * Maximum failed sign-ins per account and minute that are written to the audit log: enough to
 * notice an attack, too few to fill the log.
 */
const maxEntries = 10;
const windowMs = 60_000;
/**
 * Maximum number of accounts that are counted at the same time. Beyond it, the count of the least
 * recently used account starts again from 0.
 */
const maxAccounts = 10_000;

/** Creates the recorder of failed sign-ins. Failed writes are logged at level `warn`. */
export function createFailedSignIns(database: Database, log: Log): FailedSignIns {
  const counter = new FixedWindowCounter({ windowMs, maxKeys: maxAccounts });
  return {
    note({ address, ...compared }) {
      inAllWorkspaces(database.tenant, async (tx) => {
        const accounts = await listCompared(tx, compared);
        const isShared = compared.workspaceId === undefined && accounts.length > 1;
        // The actor is unknown, so it is recorded as `system`.
        for (const { id } of accounts) {
          if (counter.add(id).count > maxEntries) continue;
          await recordAccountAction(
            tx,
            { userId: id, actor: { kind: "system" }, address: isShared ? null : address },
            { action: "session.refuse", target: id },
          );
        }
      }).catch((thrown) =>
        log.write("a failed sign-in was not written to the audit log", {
          reason: messageOf(thrown),
        }),
      );
    },
  };
}
