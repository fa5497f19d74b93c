import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { FixedWindowCounter } from "../base/fixed-window.ts";
import type { Log } from "../base/log.ts";
import { maxCompared } from "./find-account.ts";
import { listAccounts } from "./password-store.ts";
import { recordAct } from "./record-act.ts";

/** Puts sign-ins that failed on record, where the person is a member. */
export interface RefusedSignIns {
  /**
   * Somebody gave a wrong password for this e-mail. Returns at once: to write before the answer would tell, by the time it takes, whose
   * e-mail has an account. It may be lost with the process.
   */
  note(attempt: { email: string; workspaceId?: string | undefined; address: string }): void;
}

/** Of one e-mail, in a minute: enough to see that somebody guesses, and no more, since a guesser must not fill the record. */
const most = 10;
const windowMs = 60_000;
/** E-mails counted at once. */
const maxEmails = 10_000;

/** Writes rejected sign-ins to the audit log, some time after the response. */
export function recordRefusedSignIns(database: Database, log: Log): RefusedSignIns {
  const noted = new FixedWindowCounter({ windowMs, maxKeys: maxEmails });
  return {
    note({ email, workspaceId, address }) {
      if (noted.add(email).count > most) return;
      inAllWorkspaces(database.tenant, async (tx) => {
        // Who acted is not known: only whose passwords were compared.
        for (const { id } of await listAccounts(tx, { email, workspaceId, max: maxCompared })) {
          await recordAct(
            tx,
            { userId: id, actor: { kind: "system" }, address },
            { action: "session.refuse", target: id },
          );
        }
      }).catch((thrown) =>
        log.warn({ reason: messageOf(thrown) }, "a sign-in that failed was not put on record"),
      );
    },
  };
}
