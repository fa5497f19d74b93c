import type { JournalEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { sentenceFor } from "./step-words.ts";

test.each(["run.queued", "run.waiting", "run.started", "run.resumed", "run.step_lost"] as const)(
  "%s has a sentence",
  (type: JournalEvent["type"]) => {
    expect(sentenceFor({ type, data: { attempt: 2 } })).toMatch(/^[A-Z].+\.$/);
  },
);
