import { onTestFinished } from "vitest";
import type { TestBeckon } from "./beckon.ts";

/** Writes that PostgreSQL rejects. */
export interface RejectedWrites {
  /** Returns how many writes were rejected. */
  count(): Promise<number>;
  /** Accepts the writes again. */
  accept(): Promise<void>;
}

/**
 * Makes PostgreSQL reject `writes`, for example `insert on runs`, with the SQLSTATE `code`, until
 * they are accepted or the test ends.
 */
export async function rejectWrites(
  { db }: TestBeckon,
  writes: string,
  code: string,
): Promise<RejectedWrites> {
  const { engine } = db.database;
  // A sequence, because its value remains when the transaction of the write is rolled back.
  await engine.query("create sequence rejected_writes");
  await engine.query(
    `create function reject_write() returns trigger language plpgsql as $$ begin
      perform nextval('rejected_writes');
      raise exception 'no' using errcode = '${code}';
    end $$`,
  );
  await engine.query(
    `create trigger reject_write before ${writes} for each row execute function reject_write()`,
  );
  const accept = async () => {
    await engine.query("drop function if exists reject_write cascade");
    await engine.query("drop sequence if exists rejected_writes");
  };
  onTestFinished(accept);
  return {
    async count() {
      const { rows } = await engine.query<{ count: number }>(
        "select case when is_called then last_value else 0 end::int as count from rejected_writes",
      );
      return rows[0]?.count ?? 0;
    },
    accept,
  };
}
