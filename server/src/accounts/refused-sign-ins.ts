import { elapsed } from "../base/clock.ts";
import { type Database, inAllWorkspaces } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { recordAct } from "./record-act.ts";
import { findUserByEmail } from "./store.ts";

/** Puts sign-ins that failed on record, where the person is a member. */
export interface RefusedSignIns {
  /**
   * Somebody gave a wrong password for this e-mail. Returns at once: to write before the answer would tell, by the time it takes, whose
   * e-mail has an account. It may be lost with the process.
   */
  note(attempt: { email: string; address: string }): void;
}

/** Of one e-mail, in a minute: enough to see that somebody guesses, and no more, since a guesser must not fill the record. */
const most = 10;
const windowMs = 60_000;
/** E-mails kept in mind; beyond that the oldest is forgotten. */
const maxEmails = 10_000;

/** Writes rejected sign-ins to the audit log, some time after the response. */
export function recordRefusedSignIns(database: Database, log: Log): RefusedSignIns {
  const noted = new Map<string, { count: number; until: number }>();
  return {
    note({ email, address }) {
      const now = elapsed();
      const known = noted.get(email);
      const entry = known !== undefined && known.until > now ? known : { count: 0, until: now + windowMs };
      entry.count++;
      noted.delete(email);
      noted.set(email, entry);
      for (const oldest of noted.keys()) {
        if (noted.size <= maxEmails) break;
        noted.delete(oldest);
      }
      if (entry.count > most) return;
      inAllWorkspaces(database.tenant, async (tx) => {
        const user = await findUserByEmail(tx, email);
        if (user === undefined) return;
        // Who acted is not known: only whom it was about.
        await recordAct(tx, { userId: user.id, actor: { kind: "system" }, address }, { action: "session.refuse", target: user.id });
      }).catch((thrown) => log.warn({ reason: messageOf(thrown) }, "a sign-in that failed was not put on record"));
    },
  };
}
