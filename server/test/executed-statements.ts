import { Client } from "pg";
import { vi } from "vitest";

/**
 * Returns the SQL of the statements that this process executes during `act`.
 * @param act gets a function that returns the SQL of the statements executed so far
 */
export async function executedStatements(
  act: (soFar: () => string[]) => Promise<unknown>,
): Promise<string[]> {
  const queries = vi.spyOn(Client.prototype, "query");
  const soFar = () =>
    queries.mock.calls.map(([query]: readonly unknown[]) =>
      typeof query === "string" ? query : String((query as { text?: unknown }).text),
    );
  try {
    await act(soFar);
    return soFar();
  } finally {
    queries.mockRestore();
  }
}
