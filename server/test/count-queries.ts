import { Client } from "pg";
import { vi } from "vitest";

/**
 * Counts the database queries of this process, over all connections. Returns a function that stops
 * counting and returns the count.
 */
export function countQueries(): () => number {
  const queries = vi.spyOn(Client.prototype, "query");
  return () => {
    const asked = queries.mock.calls.length;
    queries.mockRestore();
    return asked;
  };
}
