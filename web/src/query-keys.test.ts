import { QueryClient, type QueryKey } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "./data/index.ts";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { activityQuery } = await import("./agents/list/activity.ts");
const { ceilingsKey } = await import("./limits/queries.ts");
const { nearLimitsQuery, providerHealthQuery } = await import("./overview/queries.ts");
const { modelsKey } = await import("./providers/queries.ts");
const { runsKey } = await import("./runs/queries.ts");
const { triggerQuery: triggerOfRunQuery } = await import("./runs/run/journal/queries.ts");
const { triggerQuery, triggersKey } = await import("./triggers/queries.ts");

const workspace = { id: "wsp_1", can: () => true } as unknown as CurrentWorkspace;

// These queries write the prefix of another feature's keys themselves. An import of that feature
// would make the first load larger, or modules import each other.
test.each<[string, QueryKey, QueryKey]>([
  ["models of the overview", modelsKey("wsp_1"), providerHealthQuery(workspace).queryKey],
  ["ceilings of the overview", ceilingsKey("wsp_1"), nearLimitsQuery(workspace).queryKey],
  ["figures of agents", runsKey("wsp_1"), activityQuery(workspace).queryKey],
  [
    "triggers of runs",
    triggersKey("wsp_1", "agt_1"),
    triggerOfRunQuery(workspace, "agt_1", "trg_1").queryKey,
  ],
])("%s are refetched after a change", async (_, prefix, queryKey) => {
  const queryClient = new QueryClient();
  queryClient.setQueryData(queryKey, []);
  await queryClient.invalidateQueries({ queryKey: prefix });
  expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true);
});

test("the page of a run and that of a trigger share what they read", () => {
  expect(triggerOfRunQuery(workspace, "agt_1", "trg_1").queryKey).toEqual(
    triggerQuery(workspace, "agt_1", "trg_1").queryKey,
  );
});
