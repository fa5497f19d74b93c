import { Client } from "pg";
import { vi } from "vitest";

/** Counts what is asked of the database over all connections of this process from now on. @returns what ends the count, and says it */
export function countQueries(): () => number {
  const queries = vi.spyOn(Client.prototype, "query");
  return () => {
    const asked = queries.mock.calls.length;
    queries.mockRestore();
    return asked;
  };
}
