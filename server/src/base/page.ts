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

/**
 * The parameters of one page. The query must select the first `limit` + 1 rows, newest first, with
 * ids below `below`. The last of them is not part of the page and shows that there is a next one.
 * `below` is undefined for the first page, which can have any ids.
 */
export interface PageRequest {
  readonly limit: number;
  readonly below: string | undefined;
  /**
   * Returns the page: the first `limit` rows, and a cursor if there are more.
   * @param searchedTo the id below which rows were not searched. The next page begins there if this
   *   one has all `rows`. Default: all rows were searched.
   */
  page<T extends { id: string }>(rows: readonly T[], searchedTo?: string): Page<T>;
  /**
   * Returns a cursor for the rows below `id`. Needed if the next page does not begin directly below
   * the last row of this page.
   */
  cursor(id: string): string;
}

/**
 * Reads the parameters `limit` and `after`. Ids sort by time of creation, so a cursor consists of
 * the last id of a page and a hash of the list's filter.
 * @param filter name of the list and every filter that applies to it.
 * @param idForm pattern of the list's ids, if they differ from other ids.
 * @param source where the caller sent `after`, for the error message.
 * @throws ApiError `bad_request` if the limit is outside 1 to 200, or the cursor is invalid or
 *   belongs to another list or filter.
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
    page: (rows, searchedTo) => {
      const data = rows.slice(0, limit);
      const end = rows.length > limit ? data.at(-1)?.id : searchedTo;
      return { data, next: end === undefined ? null : cursor(end) };
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
