import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { heldTool } from "../../test/held-tool.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { seedProcess } from "../../test/tenant.ts";
import { newId } from "../base/ids.ts";

/** A server that serves callers and executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

/**
 * Starts `count` runs in a process that will be declared dead, and waits until each executes a tool
 * call. Reading the journal of one of these runs takes 8 MB of memory.
 */
async function start(count: number) {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script((request, index) => {
    const answered = request.body.messages.some(({ role }) => role === "tool");
    const calls = [{ id: "call_1", name: "hold", arguments: '{"kib":1}' }];
    return says(answered ? { text: "done" } : { text: "x".repeat(1_000_000), calls })(
      request,
      index,
    );
  });
  const { id: providerId, name } = await beckon.createProvider(server.url, `provider-${count}`);
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const begun = Array.from({ length: count }, () =>
    beckon.invoke(agent, "hello", { prefer: "respond-async" }),
  );

  const held = heldTool();
  const processId = newId("prc");
  const dead = await beckon.another({
    processId,
    settings: { BECKON_ROLE: "worker" },
    tools: [held.tool],
  });
  onTestFinished(() => dead.stop());
  onTestFinished(() => held.release());
  const runIds: string[] = (await Promise.all(begun)).map(({ body }) => body.run_id);
  await held.called(count);
  return { runIds, processId, providerId };
}

/**
 * Starts a process and declares the process `processId` dead, so that the new process takes over
 * its runs. With its memory budget, the new process has 45 MiB for the runs of one workspace.
 */
async function rescue(processId: string) {
  const held = heldTool();
  const settings = { BECKON_ROLE: "worker", BECKON_MEMORY_BUDGET_MIB: "96" };
  const rescuer = await beckon.another({ settings, tools: [held.tool] });
  onTestFinished(() => rescuer.stop());
  onTestFinished(() => held.release());
  await rescuer.recordDeaths([processId]);
  return held;
}

/**
 * Makes a process take over `count` runs, which together need more memory than the process allows
 * for the runs of one workspace.
 */
async function takeOver(count: number) {
  const { runIds, processId } = await start(count);
  const held = await rescue(processId);
  const takenOver = async () => {
    const { rows } = await beckon.db.database.engine.query<{ runs: number }>(
      "select count(*)::int as runs from runs where attempt = 2 and id = any ($1)",
      [runIds],
    );
    return rows[0]?.runs ?? 0;
  };
  await held.called(5);
  await eventually("more runs taken over than there is memory for", async () =>
    (await takenOver()) > 5 ? true : undefined,
  );
  expect(held.calls).toBe(5);
  return { runIds, tool: held };
}

const over = (runId: string) =>
  eventually(`the end of ${runId}`, async () => {
    const { body } = await beckon.call(`/runs/${runId}`);
    return body.data.finished_at === null ? undefined : body.data;
  });

/**
 * Expects that the tool call that was in progress has the result `unknown`, and that the run's
 * usage is known.
 */
async function expectClosed(runId: string, end: "cancelled" | "failed") {
  const { status, usage } = await over(runId);
  const { body } = await beckon.call(`/runs/${runId}/events`);
  const last = body.data
    .slice(-2)
    .map(({ type, data }: { type: string; data: { outcome?: string } }) => [type, data.outcome]);
  expect([status, last]).toEqual([
    end,
    [
      ["run.tool_result", "unknown"],
      [`run.${end}`, undefined],
    ],
  ]);
  expect(usage.output_tokens).toBeGreaterThan(0);
}

test("runs of a dead process resume within the memory budget", async () => {
  const { runIds, tool } = await takeOver(12);
  tool.release();
  for (const runId of runIds) {
    const run = await over(runId);
    expect([run.status, run.output, run.attempt]).toEqual(["succeeded", "done", 2]);
  }
});

test("a resumed run that is cancelled keeps its usage and has no open call", async () => {
  const { runIds } = await takeOver(8);
  for (const runId of runIds) await beckon.call(`/runs/${runId}/cancel`, { method: "POST" });
  for (const runId of runIds) await expectClosed(runId, "cancelled");
});

test("a resumed run without its provider keeps its usage and has no open call", async () => {
  const { runIds, processId, providerId } = await start(1);
  await beckon.db.database.engine.query("update providers set deleted_at = now() where id = $1", [
    providerId,
  ]);
  await rescue(processId);
  for (const runId of runIds) await expectClosed(runId, "failed");
});

test("a run that is cancelled after its process exited ends as cancelled, even without its provider", async () => {
  const { database } = beckon.db;
  const { id, name } = await beckon.createProvider("http://127.0.0.1:9/v1", "deleted");
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const { body } = await beckon.invoke(agent, "hello", { prefer: "respond-async" });
  const processId = await seedProcess(database);
  await database.engine.query(
    `update runs set status = 'running', owner = $2, fence = 1, started_at = now(),
      cancel_requested_at = now() where id = $1`,
    [body.run_id, processId],
  );
  await database.engine.query("update providers set deleted_at = now() where id = $1", [id]);
  await rescue(processId);
  expect(await over(body.run_id)).toMatchObject({
    status: "cancelled",
    error: { code: "cancelled" },
  });
});
