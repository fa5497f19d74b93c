import { expect, test } from "vitest";
import { RunStopped, type StopReason } from "../../engine/index.ts";
import { LiveRun } from "../subscribing/index.ts";
import { type HoldPorts, holdRun } from "./hold-run.ts";
import type { RunJournal } from "./run-journal.ts";

/**
 * Holds a run whose trigger holds runs, while the first query fails because its connection is lost.
 * Contains only the services that this uses.
 * @param stopped stops the run before the query, or when it fails.
 */
async function holdWithLostConnection(stopped: { before?: StopReason; during?: StopReason }) {
  const run = { runId: "run_1", workspaceId: "wsp_1" };
  const live = new LiveRun(run, 1, { hasRemoteSubscribers: false });
  const state = { queries: 0, holds: 0, noted: 0 };
  const ports = {
    database: {
      engine: {
        async query() {
          state.queries++;
          if (state.queries > 1) return { rows: [{ holds: true }] };
          if (stopped.during !== undefined) live.stop(stopped.during);
          throw new Error("Connection terminated unexpectedly");
        },
      },
    },
    worker: { noteHeld: () => state.noted++ },
  } as unknown as HoldPorts;
  const journal = { reportsCalls: false, hold: async () => void state.holds++ };
  if (stopped.before !== undefined) live.stop(stopped.before);
  const thrown = await holdRun(ports, {
    run,
    live,
    journal: journal as unknown as RunJournal,
  }).catch((reason: unknown) => reason);
  return { ...state, thrown };
}

test.each([
  ["has passed before", { before: "deadline" }],
  ["passes then", { during: "deadline" }],
  ["has not passed", {}],
] as const)("a lost connection does not prevent a hold if the deadline %s", async (_, stopped) => {
  expect(await holdWithLostConnection(stopped)).toEqual({
    queries: 2,
    holds: 1,
    noted: 1,
    thrown: new RunStopped("fenced"),
  });
});
