/**
 * Thrown if code of the dashboard cannot be loaded: the connection failed, or the file is gone
 * because Beckon was updated since the page was opened. `cause` is the error of the browser. The
 * message begins with other words than the browser's, because TanStack Router reloads the page at
 * once if it recognizes them. Without a connection, the browser would then show its own error page
 * instead of the dashboard.
 */
export class ImportError extends Error {
  override readonly name = "ImportError";

  constructor(cause: unknown) {
    super(`code was not loaded: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/**
 * Returns the import with all its failures as `ImportError`, because browsers have no common type
 * or text for them.
 */
export function importing<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return () =>
    load().catch((cause: unknown) => {
      throw new ImportError(cause);
    });
}
