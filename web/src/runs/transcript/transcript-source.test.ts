import type { Run } from "@beckon/client";
import { expect, test } from "vitest";
import { isEnded } from "../patch-run.ts";
import { emptyTranscript, type Transcript } from "./transcript.ts";
import { isFollowed, needsJournal, shownTranscript } from "./transcript-source.ts";

const finishedAt = "2026-11-03T14:02:09.000Z";
const ended = { status: "succeeded", output: "Done", finished_at: finishedAt } as Run;
const tool = { callId: "c1", tool: "clock", arguments: "{}", isCalled: true };
const step = { step: 1, text: "", reasoning: "", tools: [tool] };
/** A run whose stream was closed during the call of a tool. */
const half: Transcript = { ...emptyTranscript, status: "running", steps: [step] };

test("a run that ends after its stream was lost is read from its journal", () => {
  const known = { isNew: false, run: ended, streamed: half };
  expect(isFollowed(known)).toBe(true);
  expect(needsJournal(known, "live")).toBe(false);
  for (const stream of ["replaced", "failed", "connecting"] as const)
    expect(needsJournal(known, stream)).toBe(true);
  expect(isEnded(shownTranscript(known, undefined))).toBe(false);
  const steps = [{ ...step, tools: [{ ...tool, outcome: "ok" }] }];
  const shown = shownTranscript(known, { ...half, steps });
  expect(shown).toMatchObject({ status: "succeeded", steps, output: "Done" });
  expect(shown.finished_at).toBe(finishedAt);
});

test("the journal is not read if the run is active, or if its stream has brought its end", () => {
  const active = { ...ended, finished_at: null } as Run;
  expect(needsJournal({ isNew: false, run: active, streamed: half }, "replaced")).toBe(false);
  const streamed = { ...half, finished_at: finishedAt };
  expect(needsJournal({ isNew: true, run: ended, streamed }, "ended")).toBe(false);
});

test("a run that had ended before is shown from its journal, and its output at once", () => {
  const known = { isNew: false, run: ended, streamed: emptyTranscript };
  expect(isFollowed(known)).toBe(false);
  expect(needsJournal(known, "connecting")).toBe(true);
  expect(shownTranscript(known, undefined)).toMatchObject({
    output: "Done",
    finished_at: finishedAt,
  });
});
