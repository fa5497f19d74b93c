import { daysBefore, type Retention } from "../base/retention/index.ts";
import type { PrepareDeletion, RowKind } from "./kinds.ts";

interface DatedTable {
  readonly table: string;
  readonly kind: RowKind;
  /** The column with the time from which a row's age counts. Large tables have an index on it. */
  readonly time: string;
  /**
   * Setting that says how many days after `time` a row is deleted. `expired`: a row is deleted as
   * soon as `time` has passed.
   */
  readonly days: keyof Retention | "expired";
}

/** Tables whose rows are deleted by their age alone. */
const tables: readonly DatedTable[] = [
  {
    table: "sessions",
    kind: "sessions",
    time: "expires_at",
    days: "sessionsDays",
  },
  {
    table: "invitations",
    kind: "invitations",
    time: "expires_at",
    days: "invitationsDays",
  },
  {
    table: "password_resets",
    kind: "password_links",
    time: "expires_at",
    days: "invitationsDays",
  },
  // An event id can be kept longer than its run, so that an event that is sent again gets the id of
  // the deleted run and starts no second run.
  {
    table: "trigger_event_ids",
    kind: "event_ids",
    time: "expires_at",
    days: "expired",
  },
  {
    table: "request_counts",
    kind: "request_counts",
    time: "minute",
    days: "requestsDays",
  },
  {
    table: "idempotency",
    kind: "idempotency",
    time: "created_at",
    days: "idempotencyDays",
  },
  {
    table: "received_requests",
    kind: "received_requests",
    time: "received_at",
    days: "requestsDays",
  },
];

export const datedRows: readonly PrepareDeletion[] = tables.map(
  ({ table, kind, time, days }) =>
    (connection, retention, now) => {
      const keptDays = days === "expired" ? 0 : retention[days];
      if (keptDays === 0 && days !== "expired") return undefined;
      const before = daysBefore(keptDays, now);
      let from = "-infinity";
      return async (max) => {
        const { rows } = await connection.query<{ deleted: number; last: string | null }>({
          name: `prune-${table}`,
          // Rows that another transaction has locked are left for the next pass. The others are
          // deleted by their ctid. With their primary key instead, PostgreSQL could compare each
          // row of the table with each row of "old": it plans the statement once per connection,
          // possibly while the table is small, and keeps this plan.
          text: `with old as materialized (
              select ctid, ${time} as time from ${table}
              where ${time} >= $1::timestamptz and ${time} < $2
              order by ${time} limit $3 for update skip locked
            ), deleted as (
              delete from ${table} where ctid = any (array(select ctid from old)) returning 1
            )
            select (select count(*)::int from deleted) as deleted,
              (select max(time)::text from old) as last`,
          values: [from, before, max],
        });
        const { deleted = 0, last } = rows[0] ?? {};
        from = last ?? from;
        return { deleted: { [kind]: deleted }, hasMore: deleted >= max };
      };
    },
);
