import { expect, test } from "vitest";
import { retryWords } from "./retry-words.ts";

test("a run that a repeat of the event has started is not called a new one", () => {
  const words = (retry_of: string | null) => retryWords({ id: "run_1" }, { retry_of });
  expect(words("run_1")).toEqual({ title: "The retry has started as a new run." });
  for (const other of [null, "run_0"])
    expect(words(other)).toEqual({
      title: "This run of the same event was started before.",
      description: "No new run was started.",
    });
});
