/**
 * The embedded PostgreSQL cannot start. The message tells the operator what is wrong and how to fix
 * it.
 */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
}
