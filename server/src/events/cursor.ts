import { ApiError } from "../base/errors.ts";
import type { Position } from "./position.ts";

/** A position as readers keep it, and the generation of the installation it is of. */
export interface Cursor extends Position {
  readonly generation: string;
}

/** Letters of the generation that a cursor repeats. */
const generationLength = 8;

/** The cursor as text, opaque to its reader. */
export function toCursor(generation: string, { transaction, runId, seq }: Position): string {
  return Buffer.from(
    `${generation.slice(0, generationLength)}.${transaction}.${runId}.${seq}`,
  ).toString("base64url");
}

/**
 * Returns the cursor that the text encodes.
 * @param source Where the text was sent, for the error message.
 * @throws ApiError `bad_request` for text that is no cursor.
 */
export function readCursor(
  text: string,
  source: "Last-Event-ID" | "query parameter after" = "query parameter after",
): Cursor {
  const [, generation, transaction, runId, seq] =
    form.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  if (generation === undefined || runId === undefined) {
    throw new ApiError(
      "bad_request",
      `${source} is not a cursor of the workspace's events. Send one that you received, or start without it.`,
    );
  }
  return { generation, transaction: Number(transaction), runId, seq: Number(seq) };
}

const form = /^([0-9a-f]{8})\.(-?\d{1,15})\.(|run_[0-9a-z]{26})\.(\d{1,15})$/;

/** Whether the cursor was made in this generation. */
export function isOf(cursor: Cursor, generation: string): boolean {
  return generation.startsWith(cursor.generation);
}
