import type { Database } from "../base/database/index.ts";
import { beforeTransaction, type Position } from "./position.ts";

/** An event of a run or of the workspace, with its place. */
export interface PlacedEvent extends Position {
  readonly id: string;
  readonly workspaceId: string;
  /** null: a workspace event that is about no single agent. */
  readonly agentId: string | null;
  readonly type: string;
  readonly version: number;
  readonly time: string;
  readonly data: Record<string, unknown>;
}

/** What there is after a position. */
export interface Stretch {
  readonly events: readonly PlacedEvent[];
  /** Everything up to here has been read, whether or not it was an event of these workspaces. */
  readonly end: Position;
  /** There may be more already. */
  readonly cut: boolean;
  /** A transaction is under way, and what was committed after it began is not shown yet. */
  readonly held: boolean;
}

interface Row {
  readonly horizon: string;
  readonly held: boolean;
  readonly transaction: string;
  readonly run_id: string;
  readonly seq: string;
  readonly id: string | null;
  readonly workspace_id: string;
  readonly agent_id: string | null;
  readonly type: string;
  readonly version: number;
  readonly time: Date;
  readonly data: Record<string, unknown>;
}

/** The oldest transaction under way: below it nothing can be added any more. */
const snapshot = `(select pg_snapshot_xmin(s)::text::bigint as horizon, pg_snapshot_xmin(s) < pg_snapshot_xmax(s) as held
  from pg_current_snapshot() as s) as snapshot`;

interface Range {
  readonly after: Position;
  readonly upTo?: Position;
  readonly limit: number;
  readonly ofRuns?: boolean;
  readonly ofNone?: boolean;
}

/** For the two tables alike. The first two lines let the index find the rows. */
const within = (place: string) => `e.workspace_id = w.id
            and e.transaction >= $2::bigint and e.transaction <= $5::bigint and e.transaction < snapshot.horizon
            and ${place} > ($2, $3, $4::bigint) and ${place} <= ($5, $6, $7::bigint)`;

/**
 * Reads events of some workspaces after `after`, in order, at most `limit`, and none that another
 * could still come before. `upTo` ends the stretch earlier. `ofRuns` and `ofNone` tell whether to read
 * the events of runs and those that belong to none.
 */
export async function readStretch(
  database: Pick<Database["engine"], "query">,
  workspaceIds: readonly string[],
  { after, upTo, limit, ofRuns = true, ofNone = true }: Range,
): Promise<Stretch> {
  const { rows } = await database.query<Row>({
    name: "read-stretch",
    text: `select snapshot.horizon, snapshot.held, e.* from ${snapshot} left join lateral (
        select e.transaction, e.run_id, e.seq::bigint, e.id, e.workspace_id, r.agent_id, e.type, e.version, e.time, e.data
        from unnest($1::text[]) as w (id), lateral (
          select * from events e where $9 and ${within("(e.transaction, e.run_id, e.seq)")}
          order by e.transaction, e.run_id, e.seq limit $8
        ) as e join runs r on r.id = e.run_id and r.workspace_id = e.workspace_id
        union all
        select e.transaction, '', e.number, e.id, e.workspace_id, e.agent_id, e.type, e.version, e.time, e.data
        from unnest($1::text[]) as w (id), lateral (
          select * from workspace_events e where $10 and ${within("(e.transaction, '', e.number)")}
          order by e.transaction, e.number limit $8
        ) as e
        order by transaction, run_id, seq limit $8
      ) as e on true order by e.transaction, e.run_id, e.seq`,
    values: [
      workspaceIds,
      ...valuesOf(after),
      ...(upTo === undefined ? endless : valuesOf(upTo)),
      limit,
      ofRuns,
      ofNone,
    ],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("a snapshot has no row");
  const events = rows.flatMap((row) => (row.id === null ? [] : toPlaced(row, row.id)));
  const last = events.at(-1);
  const cut = events.length === limit;
  const horizon = beforeTransaction(Number(first.horizon));
  return {
    events,
    cut,
    held: first.held,
    end: cut && last !== undefined ? last : (upTo ?? horizon),
  };
}

const valuesOf = ({ transaction, runId, seq }: Position) => [transaction, runId, seq] as const;
const endless = ["9223372036854775807", "", 0] as const;

function toPlaced(row: Row, id: string): PlacedEvent {
  return {
    transaction: Number(row.transaction),
    runId: row.run_id,
    seq: Number(row.seq),
    id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    type: row.type,
    version: row.version,
    time: row.time.toISOString(),
    data: row.data,
  };
}

/** Where the events end now: after what nothing can be added to. */
export async function readEnd(database: Pick<Database["engine"], "query">): Promise<Position> {
  const { rows } = await database.query<{ horizon: string }>({
    name: "read-end",
    text: `select horizon from ${snapshot}`,
  });
  return beforeTransaction(Number(rows[0]?.horizon));
}

/**
 * The generation of this installation, and whether its events can have had this position: not if the event is there at another one, or its
 * transaction has not been yet. An event that is gone was deleted with its run, which says nothing.
 */
export async function readGeneration(
  database: Pick<Database["engine"], "query">,
  { transaction, runId, seq }: Position,
): Promise<{ generation: string; possible: boolean }> {
  const { rows } = await database.query<{ generation: string; possible: boolean }>({
    name: "read-generation",
    text: `select generation::text, $1::bigint <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        and not exists (select from events where run_id = $2 and seq = $3::bigint and transaction <> $1)
        and not exists (select from workspace_events where $2 = '' and number = $3 and transaction <> $1) as possible
      from installation`,
    values: [transaction, runId, seq],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the installation has no row");
  return row;
}
