import type { RequestOutcome } from "@beckon/contract";
import { type Selectable, sql } from "kysely";
import {
  type Searched,
  searchNewest,
  type Tables,
  type WorkspaceTransaction,
} from "../../base/database/index.ts";
import { type HoldBytes, tooManyBodies } from "../../receiving/index.ts";
import type { TriggerRow } from "../store.ts";

/**
 * A received request without its query and headers, and without its body of up to 25 MiB. Its id
 * contains the time at which it arrived, so lists are sorted by id and time ranges are selected by
 * id. The column `received_at` has a later time: the time at which the row was written.
 */
export type RequestRow = Omit<
  Selectable<Tables["received_requests"]>,
  "received_at" | "query" | "headers" | "body" | "content_encoding"
>;

/**
 * The contents of a received request; null if they were not stored, or were deleted with the run.
 */
export type RequestContent = Pick<
  Selectable<Tables["received_requests"]>,
  "query" | "headers" | "body"
>;

/** The trigger whose requests a query reads or changes. */
export interface RequestsKey {
  readonly workspaceId: string;
  readonly triggerId: string;
}

/** Returns the key of the requests that a trigger received. */
export function requestsOf({ workspace_id, id }: TriggerRow): RequestsKey {
  return { workspaceId: workspace_id, triggerId: id };
}

const columns = [
  "id",
  "workspace_id",
  "agent_id",
  "trigger_id",
  "outcome",
  "error",
  "event_id",
  "event_type",
  "run_id",
  "replay_of",
  "agent_version",
  "address",
  "content_type",
  "size",
] as const;

const ofTrigger = (tx: WorkspaceTransaction, { workspaceId, triggerId }: RequestsKey) =>
  tx
    .selectFrom("received_requests")
    .where("workspace_id", "=", workspaceId)
    .where("trigger_id", "=", triggerId);

/** Filters of a list of received requests. */
export interface RequestFilter {
  readonly outcome?: RequestOutcome | undefined;
  readonly event_type?: string | undefined;
}

/**
 * Returns up to `limit` received requests below the id `below`, newest first. With both filters it
 * searches a limited number of requests, and can find fewer although more match.
 */
export async function listRequestRows(
  tx: WorkspaceTransaction,
  key: RequestsKey,
  { outcome, event_type }: RequestFilter,
  { below, limit }: { readonly below: string | undefined; readonly limit: number },
): Promise<Searched<RequestRow>> {
  let query = ofTrigger(tx, key).select(columns).orderBy("id", "desc");
  if (outcome !== undefined && event_type !== undefined) {
    const { rows: ids, searchedTo } = await searchNewest(tx, "received_requests", {
      scope: [
        sql`workspace_id = ${key.workspaceId}`,
        sql`trigger_id = ${key.triggerId}`,
        ...(below === undefined ? [] : [sql`id < ${below}`]),
      ],
      filters: [
        ["event_type", event_type],
        ["outcome", outcome],
      ],
      limit,
    });
    return {
      rows: ids.length === 0 ? [] : await query.where("id", "in", ids).execute(),
      searchedTo,
    };
  }
  if (outcome !== undefined) query = query.where("outcome", "=", outcome);
  if (event_type !== undefined) query = query.where("event_type", "=", event_type);
  if (below !== undefined) query = query.where("id", "<", below);
  return { rows: await query.limit(limit).execute(), searchedTo: undefined };
}

/**
 * Returns a received request with its query, headers and body; undefined if there is none.
 * @param hold counts the bytes of the body against the memory budget, before they are read.
 * @throws ApiError `unavailable`, `too_large` if the process cannot hold the body
 */
export async function findRequest(
  tx: WorkspaceTransaction,
  key: RequestsKey,
  requestId: string,
  hold: HoldBytes,
): Promise<(RequestRow & RequestContent) | undefined> {
  const one = ofTrigger(tx, key).where("id", "=", requestId);
  const stored = await one
    .select(sql<number>`coalesce(length(body), 0)`.as("bytes"))
    .executeTakeFirst();
  if (stored === undefined) return undefined;
  if (!hold(stored.bytes)) throw tooManyBodies();
  return one.select([...columns, "query", "headers", "body"]).executeTakeFirst();
}

/** Deletes a received request and returns what it was; undefined if there is none. */
export function deleteRequestRow(
  tx: WorkspaceTransaction,
  { workspaceId, triggerId }: RequestsKey,
  requestId: string,
): Promise<Pick<RequestRow, "outcome" | "run_id"> | undefined> {
  return tx
    .deleteFrom("received_requests")
    .where("workspace_id", "=", workspaceId)
    .where("trigger_id", "=", triggerId)
    .where("id", "=", requestId)
    .returning(["outcome", "run_id"])
    .executeTakeFirst();
}

/**
 * Returns the newest request of a trigger whose body is stored and has at most `maxBytes`;
 * undefined if there is none.
 */
export function findLastRequest(
  tx: WorkspaceTransaction,
  key: RequestsKey,
  maxBytes: number,
): Promise<(RequestRow & RequestContent) | undefined> {
  return ofTrigger(tx, key)
    .select([...columns, "query", "headers", "body"])
    .where("body", "is not", null)
    .where("size", "<=", maxBytes)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Outcomes of requests that have started their event: its id was bound to their run. */
export const startedOutcomes: readonly RequestOutcome[] = ["started", "held"];

/** Returns whether the event has a run: whether its id is bound. */
export async function isEventBound(
  tx: WorkspaceTransaction,
  { workspaceId, triggerId }: RequestsKey,
  eventId: string,
): Promise<boolean> {
  const bound = await tx
    .selectFrom("trigger_event_ids")
    .select("run_id")
    .where("workspace_id", "=", workspaceId)
    .where("trigger_id", "=", triggerId)
    .where("event_id", "=", eventId)
    .executeTakeFirst();
  return bound !== undefined;
}

/**
 * Returns requests whose content is stored and that are not replays, newest first. Leaves out
 * requests that did not start their event although another request or a replay did: the event has
 * its run. Without an event id, only replays of the request itself count. Without `outcome`, also
 * leaves out requests with a value in the honeypot, a form field that people do not see: such
 * requests come from bots.
 * @param range `from` is included, `below` is not
 * @param replayKey the Idempotency-Key of this call. A request that the key has already replayed is
 *   returned again, so that a repeat of the call has the same result. `scope` is followed by the
 *   request's id.
 */
export function selectForReplay(
  tx: WorkspaceTransaction,
  key: RequestsKey,
  {
    from,
    below,
    outcome,
  }: {
    readonly from: string;
    readonly below: string | undefined;
    readonly outcome: RequestOutcome | undefined;
  },
  replayKey: { readonly scope: string; readonly key: string } | undefined,
  limit: number,
): Promise<Pick<RequestRow, "id" | "event_id">[]> {
  const { workspaceId, triggerId } = key;
  let query = ofTrigger(tx, key)
    .select(["id", "event_id"])
    .where("id", ">=", from)
    .where("body", "is not", null)
    .where("replay_of", "is", null);
  if (below !== undefined) query = query.where("id", "<", below);
  query =
    outcome === undefined
      ? query.where("outcome", "!=", "honeypot")
      : query.where("outcome", "=", outcome);
  // With `offset 0`, each look-up is an index scan. Without it, PostgreSQL hashes whole tables.
  return query
    .where(({ eb, exists, not, or, selectFrom }) =>
      or([
        eb("outcome", "in", startedOutcomes),
        not(
          or([
            exists(
              selectFrom("trigger_event_ids as e")
                .select("e.run_id")
                .where("e.workspace_id", "=", workspaceId)
                .where("e.trigger_id", "=", triggerId)
                .whereRef("e.event_id", "=", "received_requests.event_id")
                .offset(0),
            ),
            exists(
              selectFrom("received_requests as q")
                .select("q.id")
                .where("q.workspace_id", "=", workspaceId)
                .where("q.trigger_id", "=", triggerId)
                .whereRef("q.replay_of", "=", "received_requests.id")
                .where("q.outcome", "in", startedOutcomes)
                .offset(0),
            ),
          ]),
        ),
        ...(replayKey === undefined
          ? []
          : [
              exists(
                selectFrom("idempotency as i")
                  .select("i.run_id")
                  .where("i.workspace_id", "=", workspaceId)
                  .where("i.scope", "=", sql<string>`${replayKey.scope} || received_requests.id`)
                  .where("i.key", "=", replayKey.key)
                  .offset(0),
              ),
            ]),
      ]),
    )
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}
