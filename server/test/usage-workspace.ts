import { expect } from "vitest";
import { rollUp } from "../src/usage/index.ts";
import { addUsage, type GivenEntry } from "./add-usage.ts";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";
import { type SeededAgent, seedAgent } from "./tenant.ts";
import { insertKey } from "./workspace-key.ts";

export type UsageQuery = Readonly<Record<string, string>>;

/** Creates a workspace with one agent and a key, for tests of `GET /usage`. */
export async function createUsageWorkspace(beckon: TestBeckon, { timeZone = "UTC" } = {}) {
  const { database } = beckon.db;
  const agent = await seedAgent(database);
  const { workspaceId } = agent;
  const setTimeZone = (name: string) =>
    database.engine.query("update workspaces set time_zone = $2 where id = $1", [
      workspaceId,
      name,
    ]);
  await setTimeZone(timeZone);
  const key = await insertKey(beckon, { workspaceId });
  const get = (query: UsageQuery = {}, credential = key) =>
    beckon.call(`/usage?${new URLSearchParams(query)}`, { credential });
  return {
    workspaceId,
    agent,
    key,
    get,
    setTimeZone,
    /** Requests a report and returns it. */
    usage: async (query: UsageQuery = {}, credential = key) => {
      const { status, body } = await get(query, credential);
      expect({ status, body }).toMatchObject({ status: 200 });
      return body.data;
    },
    /** Requests a report as CSV and returns the text. */
    csv: async (query: UsageQuery = {}, credential = key): Promise<string> =>
      (await get({ ...query, format: "csv" }, credential)).body,
    add: (entries: readonly GivenEntry[], of: SeededAgent = agent) =>
      addUsage(database, of, ...entries),
    /**
     * Sums up all entries by day. `rollUp` sums up only entries that are older than every open
     * transaction of the PostgreSQL server, including transactions in other databases. It is
     * therefore repeated until no entry is left.
     */
    sumUp: () =>
      eventually("the sums of usage", async () => {
        await rollUp(database);
        const { rows } = await database.engine.query(
          `select from usage_entries e join usage_rollups r using (workspace_id)
            where workspace_id = $1 having bool_and(e.transaction < r.up_to)`,
          [workspaceId],
        );
        return rows.length || undefined;
      }),
  };
}

/** A range for reports. */
export const june = { from: "2026-06-01", to: "2026-06-30" };
/** Returns the field `time` of an entry: noon of a day, in UTC. */
export const noon = (day: string) => ({ time: `${day}T12:00:00Z` });

/** The totals of a report that contains no entries. */
export const nothing = {
  entries: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  voice_ms: 0,
  browser_ms: 0,
  cost_micros: 0,
  unknown_cost_entries: 0,
  estimated_entries: 0,
};
