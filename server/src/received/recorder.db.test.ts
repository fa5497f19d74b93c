import { expect, test, vi } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { newId } from "../base/ids.ts";
import { recordStatement } from "./record-statement.ts";
import { createRecorder } from "./recorder.ts";

const { database } = await testDatabase();

// The requests are counted in two minutes, and the test is repeated, if a minute ends meanwhile.
test("the body of a request that would only be counted is not sent", { retry: 1 }, async () => {
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
  const stored = async () => {
    const { rows } = await database.engine.query<{ counts: number[]; bodies: number }>(
      `select array(select count from request_counts where trigger_id = $1) as counts,
        count(body)::int as bodies from received_requests where trigger_id = $1`,
      [triggerId],
    );
    return rows[0];
  };
  await Promise.all(Array.from({ length: 60 }, record));
  expect(await stored()).toEqual({ counts: [60], bodies: 60 });
  await record();
  expect(send.mock.lastCall?.[1]).toMatchObject([{ request: { body: null } }]);
  expect(await stored()).toEqual({ counts: [61], bodies: 60 });
});
