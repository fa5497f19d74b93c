/** PostgreSQL inside cannot start. The message is for the person at the terminal: what is wrong and what to do about it. */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
}
