import { BeckonError, type RunStats } from "@beckon/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../../data/index.ts";

/** Globals that the dashboard's modules use while they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { activityOf, activityQuery } = await import("./activity.ts");

const figures = (counts: object) => ({
  runs: { waiting: 0, queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, ...counts },
  duration_ms: { p50: null, p95: null },
  usage: { input_tokens: 0, output_tokens: 0 },
  cost_micros: 0,
});
const group = (agent_id: string, bucket: string, counts: object) => ({
  agent_id,
  bucket,
  ...figures(counts),
});

test("runs are counted by agent and hour, and hours without runs are zero", () => {
  const activity = activityOf({
    created_after: "2026-11-20T10:30:00.000Z",
    created_before: "2026-11-20T14:30:00.000Z",
    time_zone: "UTC",
    total: figures({ succeeded: 3, failed: 3, running: 1 }),
    groups: [
      group("agt_1", "2026-11-20T10:00:00.000Z", { succeeded: 2 }),
      group("agt_1", "2026-11-20T14:00:00.000Z", { succeeded: 1, failed: 3 }),
      group("agt_2", "2026-11-20T12:00:00.000Z", { running: 1 }),
    ],
  });
  expect(Object.fromEntries(activity)).toEqual({
    agt_1: { runs: 6, failed: 3, ended: 6, hourly: [2, 0, 0, 0, 4] },
    agt_2: { runs: 1, failed: 0, ended: 0, hourly: [0, 0, 1, 0, 0] },
  });
});

test("the activity is that of the last hour if a day has too many runs", async () => {
  const bucket = "2026-11-20T14:00:00.000Z";
  const stats: RunStats = {
    created_after: "2026-11-20T13:30:00.000Z",
    created_before: "2026-11-20T14:30:00.000Z",
    time_zone: "UTC",
    total: figures({ succeeded: 1 }),
    groups: [group("agt_1", bucket, { succeeded: 1 })],
  };
  const tooMany = new BeckonError({ code: "bad_request", message: "Too many.", status: 400 });
  const getStats = vi.fn().mockRejectedValueOnce(tooMany).mockResolvedValue(stats);
  const client = { runs: { getStats } } as unknown as CurrentWorkspace["client"];
  const query = activityQuery({ id: "wsp_1", client, can: () => true });
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const data = query.select?.(await cache.fetchQuery(query));
  expect([data?.hours, data?.byAgent.get("agt_1")?.runs]).toEqual([1, 1]);
  expect(getStats.mock.lastCall?.[0]).toMatchObject({ bucket: "hour", group_by: "agent" });
});
