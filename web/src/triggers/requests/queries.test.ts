import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

// The dashboard's client reads `location.origin` when its module is loaded. Node.js has no
// `location`.
vi.stubGlobal("location", { origin: "http://beckon.test" });
const { receivedKey } = await import("../queries.ts");
const { requestsKey } = await import("./queries.ts");

test("a new run does not refetch the received requests that a person reads", async () => {
  const client = new QueryClient();
  const list = [...requestsKey("wsp_1", { id: "trg_1", agent_id: "agt_1" }), "list"];
  client.setQueryData(list, []);
  await client.invalidateQueries({ queryKey: receivedKey("wsp_1", "agt_1") });
  expect(client.getQueryState(list)?.isInvalidated).toBe(false);
});
