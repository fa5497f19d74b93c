import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { allSucceeded } from "../test/runs-of.ts";
import { seedAgent, seedProcess, startOne } from "../test/tenant.ts";
import { ConfigError } from "./base/errors.ts";
import { recordDeaths } from "./processes/index.ts";

/** A server that executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { engine } = beckon.db.database;

test("a start that cannot bind its port uses up no attempt of an interrupted run", async () => {
  const processId = await seedProcess(beckon.db.database);
  const agent = await seedAgent(beckon.db.database);
  const run = await startOne(beckon.db.database, agent, { owner: processId });
  await recordDeaths(engine, [processId], "");
  const execute = { BECKON_ROLE: "all" };
  const port = new URL(beckon.url).port;
  for (let start = 1; start <= 3; start++)
    await expect(beckon.another({ settings: { ...execute, PORT: port } })).rejects.toThrow(
      ConfigError,
    );
  const { rows } = await engine.query("select status, attempt, owner from runs where id = $1", [
    run.runId,
  ]);
  expect(rows).toEqual([{ status: "running", attempt: 1, owner: processId }]);

  const server = await beckon.another({ settings: execute });
  onTestFinished(() => server.stop());
  await allSucceeded(beckon, agent.agentId, 1);
});
