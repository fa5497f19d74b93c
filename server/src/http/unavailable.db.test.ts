import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";

const beckon = await startTestBeckon();

/** Runs `act` while another transaction holds a lock on `runs` that blocks all inserts of runs. */
async function whileNothingStarts<T>(act: () => Promise<T>): Promise<T> {
  const lock = await beckon.db.database.engine.connect();
  try {
    await lock.query("begin");
    await lock.query("lock table runs in share mode");
    return await act();
  } finally {
    await lock.query("rollback");
    lock.release();
  }
}

test("a start whose outcome is not known in time gets 503, and its run ends before any model call", async () => {
  const held = await startHeldModel(beckon);
  held.release();
  const agent = await beckon.createAgent({ model: held.model });
  await beckon.invoke(agent, "so that its token is known");
  const answer = await whileNothingStarts(() => beckon.invoke(agent, "Hello"));
  expectError(answer, 503, "unavailable");
  expect(answer.headers.get("retry-after")).toBeNull();
  const run = await eventually("the end of the run", async () => {
    const [newest] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
    return newest.input === "Hello" && newest.finished_at !== null ? newest : undefined;
  });
  expect([run.status, held.requests.length]).toEqual(["cancelled", 1]);
});

test("an internal error gets 500, without its message", async () => {
  const { engine } = beckon.db.database;
  await engine.query("alter table audit rename to audit_away");
  try {
    const answer = await beckon.call("/agents", { body: { name: "Test", model: "demo/echo" } });
    expectError(answer, 500, "internal_error");
    expect(answer.body.error).not.toMatch(/audit|relation|42P01/);
  } finally {
    await engine.query("alter table audit_away rename to audit");
  }
});
