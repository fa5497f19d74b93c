import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";

const beckon = await startTestBeckon();

test("invoke waits for the run and answers with its output", async () => {
  const agent = await beckon.createAgent();
  const { status, body } = await beckon.invoke(agent, "Hello");
  expect(status).toBe(200);
  expect(body).toEqual({ ok: true, run_id: expect.stringMatching(/^run_/), output: "Hello" });
});
