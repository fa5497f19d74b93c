import { expect, test } from "vitest";
import { adviceFor } from "./run-advice.ts";

// model_error: the provider failed or was deleted, the answer was truncated or filtered, or memory
// was short. deadline_exceeded: the time limit, or 24 hours in the queue. interrupted: lost
// processes, an internal error, or a restore from a backup.
test.each([
  ["model_error", /did not answer|key|address/],
  ["deadline_exceeded", /limit/],
  ["interrupted", /process|log/],
])("the title of %s, which has several causes, names none of them", (code, cause) => {
  expect(adviceFor(code).what).not.toMatch(cause);
});

test("advice about one of several causes says so", () => {
  expect(adviceFor("model_error").remedy).toMatch(/^If the provider failed, /);
  expect(adviceFor("deadline_exceeded").remedy).toMatch(/ If it reached its time limit, /);
  expect(adviceFor("interrupted").remedy).toMatch(/^Unless Beckon was restored from a backup, /);
});

test("an error code of a later version has a general text", () => {
  expect(adviceFor("constructor").what).toBe("The run ended without an answer.");
});
