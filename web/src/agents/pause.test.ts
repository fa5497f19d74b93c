import type { Agent, WorkspaceEvent } from "@beckon/client";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../data/index.ts";
import { mayChangePause } from "./pause.ts";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { agentQuery } = await import("./queries.ts");
const { agentsQuery } = await import("./list/queries.ts");
const { agentNamesQuery } = await import("../runs/index.ts");

const event = (type: string, data: object = {}, agent_id: string | null = "agt_1") =>
  ({ type, data, agent_id }) as unknown as WorkspaceEvent;

test("events about the pause of an agent and about its ceiling can change the pause", () => {
  expect(mayChangePause(event("agent.paused"))).toBe(true);
  expect(mayChangePause(event("agent.resumed"))).toBe(true);
  expect(mayChangePause(event("usage.threshold"))).toBe(true);
  expect(mayChangePause(event("run.failed", { limit: { scope: "agent" } }))).toBe(true);
});

test("other events do not change the pause of an agent", () => {
  expect(mayChangePause(event("run.started"))).toBe(false);
  expect(mayChangePause(event("run.failed"))).toBe(false);
  expect(mayChangePause(event("run.failed", { limit: { scope: "workspace" } }))).toBe(false);
  expect(mayChangePause(event("usage.threshold", { scope: "workspace" }, null))).toBe(false);
});

/** Returns the intervals of the queries that show whether this agent is paused. */
async function intervalsWith(agent: Partial<Agent>) {
  const list = async function* () {
    yield agent;
  };
  const client = { agents: { list } } as unknown as CurrentWorkspace["client"];
  const workspace = { id: "wsp_1", client, can: () => true } as unknown as CurrentWorkspace;
  const [one, many, names] = [
    agentQuery(workspace, "agt_1"),
    agentsQuery(workspace, {}),
    agentNamesQuery(workspace),
  ];
  const read = await (names.queryFn as unknown as (context: object) => Promise<unknown>)({});
  const data = [agent, { pages: [{ data: [agent] }] }, read];
  return [one, many, names].map(({ refetchInterval }, index) =>
    (refetchInterval as (query: object) => unknown)({ state: { data: data[index] } }),
  );
}

test("agents are refetched each minute only while a ceiling pauses one of them", async () => {
  const id = "agt_1";
  expect(await intervalsWith({ id, paused_by: "limit" })).toEqual([60_000, 60_000, 60_000]);
  expect(await intervalsWith({ id, paused_by: "member" })).toEqual([false, false, false]);
  expect(await intervalsWith({ id, paused_by: null })).toEqual([false, false, false]);
});
