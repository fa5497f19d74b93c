import type { Context } from "../context.ts";
import type { WorkspaceTransaction } from "../database/index.ts";
import { ApiError, orThrow } from "../errors.ts";
import { responseBinding } from "./response-binding.ts";
import { idempotencyScope } from "./scope.ts";

/**
 * The response of a management operation, and whether it is replayed from an earlier request with
 * the same Idempotency-Key.
 */
export interface Once<T> {
  readonly data: T;
  readonly replayed: boolean;
}

/**
 * Runs `work` at most once per Idempotency-Key, principal and route. The key is stored in the
 * transaction of the work, so it is not stored if the work fails. If two requests are concurrent,
 * the second waits for the first and gets the same response, unless the first fails. Call this
 * function after the checks of permission and resource and before any other check.
 *
 * @throws ApiError the error of an invalid key or of a body that could not be read;
 *   `idempotency_mismatch` if the key was used with another body; `secret_unreadable` if the stored
 *   response was encrypted with a master key that is lost; `conflict` if the stored response is
 *   being deleted.
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
    scope: idempotencyScope(ctx, request.route),
    key,
  };
  const binding = responseBinding(row);
  const bound = await tx
    .insertInto("idempotency")
    .values({ ...row, body_hash: bodyHash })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (bound !== undefined) {
    const data = await work();
    await tx
      .updateTable("idempotency")
      .set({ answer: ctx.cipher.encrypt(JSON.stringify(data), binding) })
      .where((eb) => eb.and(row))
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
      "The stored response of this Idempotency-Key is being deleted. Use a new key.",
    );
  if (!earlier.body_hash.equals(bodyHash)) throw mismatch();
  return { data: JSON.parse(ctx.cipher.decrypt(earlier.answer, binding)) as T, replayed: true };
}

/** Returns the error for an Idempotency-Key that was used with another body. */
function mismatch(): ApiError {
  return new ApiError(
    "idempotency_mismatch",
    "This Idempotency-Key was used with another body. Use a new key for a new request, or " +
      "send the same body again.",
  );
}
