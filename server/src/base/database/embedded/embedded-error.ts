/**
 * The embedded PostgreSQL cannot be started, backed up or restored. The message says what is wrong
 * and how to fix it.
 */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
}
