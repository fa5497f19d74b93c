import { createHash } from "node:crypto";
import { type PageQuery, pageQuery } from "@beckon/contract";
import { ApiError } from "./errors.ts";
import { parseQuery } from "./parse.ts";

/** One page of a list, newest first. `next` is the `after` of the following page; null: this was the last. */
export interface Page<T> {
  readonly data: T[];
  readonly next: string | null;
}

/** What a store needs to read a page: rows with an id below `below`, at most `limit` plus one. */
export interface PageRequest {
  readonly limit: number;
  readonly below: string | undefined;
  /** Cuts the extra row off and makes the cursor. */
  page<T extends { id: string }>(rows: readonly T[]): Page<T>;
  /** The cursor to what comes below `id`, for a page that ends elsewhere than after its last row. */
  cursor(id: string): string;
}

/**
 * Reads `?limit=&after=`. Ids sort by time of creation, so a cursor is the last id seen together with a mark of the filter.
 * @param filter What the list is of, including every filter that applies.
 * @param idForm What the list's ids look like, if not as ids do.
 * @param source Where `after` was sent, for the error message.
 * @throws ApiError `bad_request` for a limit outside 1 to 200, or a cursor that is broken or of another list.
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
