import { type Context, principalOf } from "../context.ts";

/**
 * Returns the scope within which the Idempotency-Key of a request to a management route is unique.
 */
export function idempotencyScope({ actor }: Pick<Context, "actor">, route: string): string {
  return `${principalOf(actor)} ${route}`;
}
