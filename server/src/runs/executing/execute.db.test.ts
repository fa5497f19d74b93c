import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";

const beckon = await startTestBeckon({ BECKON_MAX_RUNS: "1" });

/** Invokes an agent whose runs fail because of an internal error. */
async function invokeBroken() {
  const agent = await beckon.createAgent();
  await beckon.db.database.engine.query(
    "update agent_versions set config = '{}' where agent_id = $1",
    [agent.id],
  );
  return beckon.invoke(agent, "Hello");
}

test("a run that fails because of an internal error ends", async () => {
  const { status, body } = await invokeBroken();
  expect([status, body.code]).toEqual([500, "interrupted"]);
  const run = await beckon.call(`/runs/${body.run_id}`);
  expect(run.body.data).toMatchObject({ status: "failed", error: { code: "interrupted" } });
});

test("a run that fails because of an internal error releases its capacity", async () => {
  expect((await invokeBroken()).body.code).toBe("interrupted");
  const agent = await beckon.createAgent();
  expect((await beckon.invoke(agent, "Hello")).body.output).toBe("Hello");
});
