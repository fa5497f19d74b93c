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

/** Returns the values of `statement_timeout`, in milliseconds, that are set during `act`. */
export async function statementTimeouts(act: () => Promise<unknown>): Promise<number[]> {
  const queries = vi.spyOn(Client.prototype, "query");
  try {
    await act();
    const calls: readonly (readonly unknown[])[] = queries.mock.calls;
    return calls
      .filter(([query]) => String(query).includes("'statement_timeout'"))
      .map(([, values]) => Number((values as unknown[]).at(-1)));
  } finally {
    queries.mockRestore();
  }
}
