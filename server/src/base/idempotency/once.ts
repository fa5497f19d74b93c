import { type Context, principalOf } from "../context.ts";
import type { WorkspaceTransaction } from "../database/index.ts";
import { ApiError, orThrow } from "../errors.ts";
import { placeOfAnswer } from "./place-of-answer.ts";

/** A management answer, and whether it is that of an earlier request with the same key. */
export interface Once<T> {
  readonly data: T;
  readonly replayed: boolean;
}

/**
 * Does `work` at most once per Idempotency-Key, principal and route. The key is bound in the transaction of the work, so only a
 * success binds it; of two at the same time the second waits for the first and gets its answer.
 * Call it after permission and resource are checked and before anything else can refuse.
 * @throws ApiError `idempotency_mismatch` when the key was used with another body, `secret_unreadable` when the answer was sealed with a
 *   master key that is lost.
 */
export async function once<T>(
  tx: WorkspaceTransaction,
  ctx: Context,
  work: () => Promise<T>,
): Promise<Once<T>> {
  const request = ctx.idempotency;
  if (request === undefined) return { data: await work(), replayed: false };
  const { key, bodyHash } = orThrow(request.binding);
  const row = {
    workspace_id: ctx.workspaceId,
    scope: `${principalOf(ctx.actor)} ${request.route}`,
    key,
  };
  const place = placeOfAnswer(row);
  const bound = await tx
    .insertInto("idempotency")
    .values({ ...row, body_hash: bodyHash })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  const here = (query: { workspace_id: string; scope: string; key: string }) =>
    tx.updateTable("idempotency").where((eb) => eb.and(query));
  if (bound !== undefined) {
    const data = await work();
    await here(row)
      .set({ answer: ctx.cipher.encrypt(JSON.stringify(data), place) })
      .execute();
    return { data, replayed: false };
  }
  const earlier = await tx
    .selectFrom("idempotency")
    .select(["body_hash", "answer"])
    .where((eb) => eb.and(row))
    .executeTakeFirst();
  if (earlier?.answer == null)
    throw new ApiError(
      "conflict",
      "A request with this Idempotency-Key is being pruned. Use a new key.",
    );
  if (!earlier.body_hash.equals(bodyHash)) throw mismatch();
  return { data: JSON.parse(ctx.cipher.decrypt(earlier.answer, place)) as T, replayed: true };
}

/** The same answer on every door. */
export function mismatch(): ApiError {
  return new ApiError(
    "idempotency_mismatch",
    "This Idempotency-Key was used with another body. Use a new key for a new request, or send the same body again.",
  );
}
