import { agentLimit, type Context } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import type { SecretBinding } from "../base/secrets/index.ts";
import { beginning, type Position } from "./position.ts";

/**
 * A decoded cursor: a position, and the generation of the database in which the cursor was issued.
 * A new generation begins when a startup detects that the database was restored, or that
 * PostgreSQL failed over to a standby.
 */
export interface Cursor extends Position {
  /** The first 8 hex digits of the generation; `-` if the cursor could not be decrypted. */
  readonly generation: string;
}

/** Where a cursor that cannot be used can be from, for messages. */
export const originsOfInvalidCursors =
  "from another workspace, or from before the database was restored or moved, PostgreSQL failed over to a standby, or the master key was changed";

/** Number of hex digits of the generation that a cursor contains. */
const generationLength = 8;

/**
 * Returns the text of a cursor, which clients must not interpret. The position must be that of an
 * event that the caller can see, or one that `beforeTransaction` returns. Any other position can
 * contain the id of a run that the caller cannot see, so `cursorFor` must be used for it.
 */
export function toCursor(generation: string, { transaction, runId, seq }: Position): string {
  return Buffer.from(
    `${generation.slice(0, generationLength)}.${transaction}.${runId}.${seq}`,
  ).toString("base64url");
}

/** The fields of a context that decide whether and how its cursors are encrypted. */
type Reader = Pick<Context, "actor" | "workspaceId" | "cipher">;

/**
 * Returns the text of a cursor for any position in the workspace's events. The position can contain
 * the id of a run of any agent. So for a caller that is limited to some agents, the text is
 * encrypted.
 */
export function cursorFor(ctx: Reader, generation: string, position: Position): string {
  const cursor = toCursor(generation, position);
  return agentLimit(ctx) === undefined ? cursor : ctx.cipher.encrypt(cursor, bindingOf(ctx));
}

/**
 * Decodes a cursor. A cursor that cannot be decrypted, for example because it is from another
 * workspace or the master key was replaced, gets the generation `-`. So `isFromGeneration` returns
 * false for it, as for a cursor from before a restore. A cursor of another workspace that is not
 * encrypted is accepted, because the events of all workspaces have one order.
 * @param source the header or parameter that contained `text`, for the error message.
 * @throws ApiError `bad_request` if `text` is not a cursor.
 */
export function readCursor(
  ctx: Reader,
  text: string,
  source: "Last-Event-ID" | "query parameter after" = "query parameter after",
): Cursor {
  const plain = decrypted(ctx, text);
  if (plain === undefined) return { ...beginning, generation: "-" };
  const [, generation, transaction, runId, seq] =
    cursorPattern.exec(Buffer.from(plain, "base64url").toString("latin1")) ?? [];
  if (generation === undefined || runId === undefined) {
    throw new ApiError(
      "bad_request",
      `${source} is not a cursor of the workspace's events. Send one that you received, or start without it.`,
    );
  }
  return { generation, transaction: Number(transaction), runId, seq: Number(seq) };
}

/** Returns the cursor, decrypted if it is encrypted; undefined if it cannot be decrypted. */
function decrypted(ctx: Reader, text: string): string | undefined {
  if (!encryptedPattern.test(text)) return text;
  try {
    return ctx.cipher.decrypt(text, bindingOf(ctx));
  } catch {
    return undefined;
  }
}

const bindingOf = ({ workspaceId }: Reader): SecretBinding => ({
  workspaceId,
  kind: "cursor",
  row: "events",
  remedy: "",
});

/**
 * Every text that a `SecretCipher` has encrypted begins like this. Other cursors do not, because
 * they are base64url, which contains no dot.
 */
const encryptedPattern = /^v1\.[0-9a-f]{8}\./;
const cursorPattern = /^([0-9a-f]{8})\.(-?\d{1,15})\.(|run_[0-9a-z]{26})\.(\d{1,15})$/;

/**
 * Returns whether the cursor was issued in this generation. The cursor contains only the first
 * digits of its generation.
 */
export function isFromGeneration(cursor: Cursor, generation: string): boolean {
  return generation.startsWith(cursor.generation);
}
