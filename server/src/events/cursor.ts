import { ApiError } from "../base/errors.ts";
import type { Position } from "./position.ts";

/**
 * A decoded cursor: a position, and the generation of the database in which the cursor was issued.
 * A new generation begins when a startup detects that the database was restored.
 */
export interface Cursor extends Position {
  /** The first 8 hex digits of the generation. */
  readonly generation: string;
}

/** Number of hex digits of the generation that a cursor contains. */
const generationLength = 8;

/** Returns the text of a cursor for a position. Clients must not interpret it. */
export function toCursor(generation: string, { transaction, runId, seq }: Position): string {
  return Buffer.from(
    `${generation.slice(0, generationLength)}.${transaction}.${runId}.${seq}`,
  ).toString("base64url");
}

/**
 * Decodes a cursor.
 * @param source the header or parameter that contained `text`, for the error message.
 * @throws ApiError `bad_request` if `text` is not a cursor.
 */
export function readCursor(
  text: string,
  source: "Last-Event-ID" | "query parameter after" = "query parameter after",
): Cursor {
  const [, generation, transaction, runId, seq] =
    cursorPattern.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  if (generation === undefined || runId === undefined) {
    throw new ApiError(
      "bad_request",
      `${source} is not a cursor of the workspace's events. Send one that you received, or start without it.`,
    );
  }
  return { generation, transaction: Number(transaction), runId, seq: Number(seq) };
}

const cursorPattern = /^([0-9a-f]{8})\.(-?\d{1,15})\.(|run_[0-9a-z]{26})\.(\d{1,15})$/;

/**
 * Returns whether the cursor was issued in this generation, that is, since the database was last
 * restored. The cursor contains only the first digits of its generation.
 */
export function isFromGeneration(cursor: Cursor, generation: string): boolean {
  return generation.startsWith(cursor.generation);
}
