import { Client } from "pg";
import { vi } from "vitest";

/** Returns the SQL of the statements that this process executes during `act`. */
export async function executedStatements(act: () => Promise<unknown>): Promise<string[]> {
  const queries = vi.spyOn(Client.prototype, "query");
  try {
    await act();
    return queries.mock.calls.map(([query]: readonly unknown[]) =>
      typeof query === "string" ? query : String((query as { text?: unknown }).text),
    );
  } finally {
    queries.mockRestore();
  }
}
