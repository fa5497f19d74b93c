import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../../data/index.ts";

// The dashboard's client reads `location.origin` when its module is loaded. Node.js has no
// `location`.
vi.stubGlobal("location", { origin: "http://beckon.test" });
const { lastPayloadsKey, payloadsQuery } = await import("../queries.ts");
const { requestsKey } = await import("./queries.ts");

const trigger = { id: "trg_1", agent_id: "agt_1" };
const workspace = { id: "wsp_1" } as CurrentWorkspace;

test.each([
  ["requests", [...requestsKey("wsp_1", trigger), "list"]],
  ["payloads", payloadsQuery(workspace, "agt_1", "trg_1").queryKey],
])("a new run does not refetch the received %s that a person reads", async (_, list) => {
  const client = new QueryClient();
  client.setQueryData(list, []);
  await client.invalidateQueries({ queryKey: lastPayloadsKey("wsp_1", "agt_1") });
  expect(client.getQueryState(list)?.isInvalidated).toBe(false);
});
