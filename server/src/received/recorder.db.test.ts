import { expect, test, vi } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { newId } from "../base/ids.ts";
import { recordStatement } from "./record-statement.ts";
import { createRecorder } from "./recorder.ts";

const { database } = await testDatabase();

test("the body of a request that would only be counted is not sent", async () => {
  const recorder = createRecorder(database);
  const send = vi.spyOn(recordStatement, "send");
  const triggerId = newId("trg");
  const record = () =>
    recorder.record({
      check: undefined,
      request: {
        requestId: newId("req"),
        workspaceId: "wsp_1",
        agentId: "agt_1",
        triggerId,
        outcome: "rejected",
        error: null,
        eventId: null,
        eventType: null,
        runId: null,
        address: null,
        contentType: null,
        contentEncoding: null,
        size: 1,
        query: "",
        headers: "{}",
        body: Buffer.from("x"),
      },
    });
  const sendsBody = () => send.mock.lastCall?.[1].at(-1)?.request.body !== null;
  await Promise.all(Array.from({ length: 60 }, record));
  let sent = 60;
  // If a minute ends meanwhile, it takes up to 60 more requests until the next one is full.
  do {
    await record();
    sent += 1;
  } while (sendsBody() && sent < 150);
  expect(sendsBody()).toBe(false);
  const { rows } = await database.engine.query(
    `select (select sum(count)::int from request_counts where trigger_id = $1) as counted,
      count(body)::int as bodies from received_requests where trigger_id = $1`,
    [triggerId],
  );
  expect(rows).toEqual([{ counted: sent, bodies: sent - 1 }]);
});
