import { createHash } from "node:crypto";
import { type PageQuery, pageQuery } from "@beckon/contract";
import { ApiError } from "./errors.ts";
import { parseQuery } from "./parse.ts";

/**
 * One page of a list, newest first. `next` is the `after` cursor of the following page; null on the
 * last page.
 */
export interface Page<T> {
  readonly data: T[];
  readonly next: string | null;
}

/** What a store needs to read a page: at most `limit` + 1 rows with an id below `below`. */
export interface PageRequest {
  readonly limit: number;
  readonly below: string | undefined;
  /** Removes the extra row and creates the cursor. */
  page<T extends { id: string }>(rows: readonly T[]): Page<T>;
  /** Returns the cursor for rows below `id`, for a page that does not end after its last row. */
  cursor(id: string): string;
}

/**
 * Reads `?limit=&after=`. Ids sort by time of creation, so a cursor is the last id of the page and
 * a hash of the list's filter.
 * @param filter the list and every filter that applies to it.
 * @param idForm pattern of the list's ids, if they differ from other ids.
 * @param source where `after` was sent, for the error message.
 * @throws ApiError `bad_request` if the limit is outside 1 to 200, or the cursor is invalid or
 *   belongs to another list.
 */
export function readPage(
  query: unknown,
  filter: Record<string, unknown>,
  idForm = /^[a-z]{3}_[0-9a-z]{26}$/,
  source: "query" | "body" = "query",
): PageRequest {
  const { limit, after }: PageQuery = parseQuery(pageQuery, query);
  const mark = createHash("sha256").update(JSON.stringify(filter)).digest("base64url").slice(0, 8);
  const below = after === undefined ? undefined : idIn(after, mark, idForm, source);
  const cursor = (id: string) => Buffer.from(`${mark}.${id}`).toString("base64url");
  return {
    limit,
    below,
    page: (rows) => {
      const data = rows.slice(0, limit);
      const last = data.at(-1);
      return { data, next: rows.length > limit && last ? cursor(last.id) : null };
    },
    cursor,
  };
}

function idIn(cursor: string, mark: string, idForm: RegExp, source: "query" | "body"): string {
  const [given, id] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  if (given === mark && id !== undefined && idForm.test(id)) return id;
  throw new ApiError(
    "bad_request",
    `${source === "query" ? "query parameter after" : "after"} is not a cursor of this list and filter. Start again without after.`,
  );
}
