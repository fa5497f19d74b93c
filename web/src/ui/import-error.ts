/**
 * Thrown if code of the dashboard cannot be loaded: the connection failed, or the file is gone
 * because Beckon was updated since the page was opened. The message is that of the browser.
 */
export class ImportError extends Error {
  override readonly name = "ImportError";
}

/**
 * Returns the import with all its failures as `ImportError`, because browsers have no common type
 * or text for them.
 */
export function importing<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return () =>
    load().catch((cause: unknown) => {
      throw new ImportError(cause instanceof Error ? cause.message : String(cause), { cause });
    });
}
