import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { createReceiving } from "../../../test/receiving-trigger.ts";

const beckon = await startTestBeckon();

const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;

test("a signed event starts a run whose agent sees the event's name, and is stored", async () => {
  const { id: agentId } = await beckon.createAgent();
  const trigger = await createReceiving(
    beckon,
    agentId,
    { headers: ["x-github-event"], query: ["source"] },
    { prefix: "An event:" },
  );
  const { status, body } = await trigger.send(
    { zen: "Keep it logically awesome." },
    { "x-github-event": "ping", "x-github-delivery": "delivery-1" },
    "?source=tests",
  );
  expect({ status, body }).toEqual({
    status: 200,
    body: { ok: true, run_id: expect.stringMatching(/^run_/) },
  });
  expect(await runOf(body.run_id)).toMatchObject({
    source: "trigger",
    trigger_id: trigger.id,
    input:
      'An event:\n\nx-github-event: ping\nsource: tests\n\n{"zen":"Keep it logically awesome."}',
  });
  expect(await trigger.requests()).toMatchObject([
    {
      outcome: "started",
      error: null,
      event_id: "delivery-1",
      event_type: "ping",
      run_id: body.run_id,
      query: "source=tests",
      size: 36,
      body: Buffer.from('{"zen":"Keep it logically awesome."}'),
    },
  ]);
});
