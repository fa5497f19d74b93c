import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";

const beckon = await startTestBeckon();

test("a run that fails because of an internal error ends", async () => {
  const agent = await beckon.createAgent();
  await beckon.db.database.engine.query(
    "update agent_versions set config = '{}' where agent_id = $1",
    [agent.id],
  );
  const { status, body } = await beckon.invoke(agent, "Hello");
  expect([status, body.code]).toEqual([500, "interrupted"]);
  const run = await beckon.call(`/runs/${body.run_id}`);
  expect(run.body.data).toMatchObject({ status: "failed", error: { code: "interrupted" } });
});

test("its capacity is released, and other agents continue", async () => {
  const agent = await beckon.createAgent();
  expect((await beckon.invoke(agent, "Hello")).body.output).toBe("Hello");
});
