import { createHash } from "node:crypto";
import { usageMoment } from "@beckon/contract";
import { ApiError } from "../base/errors.ts";
import { tryParseJson } from "../base/json/index.ts";

/**
 * The position at which a page ends. `from` and `to` are the range of the report, also if the
 * request left them out: the default range depends on the time, and must stay the same on all
 * pages. `keys` are the values by which the page's last row is grouped.
 */
export interface ReportPosition {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly [string, string];
}

/**
 * Returns the cursor of the page after a position.
 * @param query what the cursor is valid for: the parameters of the request except `limit`, `after`
 *   and `format`, the workspace, and the agents to which the actor is limited.
 */
export function toCursor(
  { from, to, keys }: ReportPosition,
  query: Readonly<Record<string, unknown>>,
): string {
  return Buffer.from(JSON.stringify([hashOf(query), from, to, ...keys])).toString("base64url");
}

/**
 * Returns the position of a cursor.
 * @param query as in `toCursor`.
 * @throws ApiError `bad_request` if `cursor` is not a cursor, or was issued for another query.
 */
export function readCursor(
  cursor: string,
  query: Readonly<Record<string, unknown>>,
): ReportPosition {
  const parts = partsOf(cursor);
  const [hash, from, to, first, second] = parts;
  if (
    parts.length !== 5 ||
    hash !== hashOf(query) ||
    !usageMoment.safeParse(from).success ||
    !usageMoment.safeParse(to).success ||
    from === undefined ||
    to === undefined ||
    first === undefined ||
    second === undefined
  ) {
    throw new ApiError(
      "bad_request",
      "query parameter after is not a cursor of this report. Send the other parameters of the first page, or start again without after.",
    );
  }
  return { from, to, keys: [first, second] };
}

/** Returns the texts in a cursor; none if it is malformed. */
function partsOf(cursor: string): readonly string[] {
  const parts = tryParseJson(Buffer.from(cursor, "base64url").toString());
  // PostgreSQL stores neither NUL nor half of a surrogate pair in text. No row is grouped by a text
  // with one of these, so the cursor was not issued by Beckon.
  const isKey = (part: unknown): part is string =>
    typeof part === "string" && part.isWellFormed() && !part.includes("\0");
  return Array.isArray(parts) && parts.every(isKey) ? parts : [];
}

function hashOf(query: Readonly<Record<string, unknown>>): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 8);
}
