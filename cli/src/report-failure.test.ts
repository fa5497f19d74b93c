import { BeckonError } from "@beckon/client";
import { expect, test } from "vitest";
import { reportFailure } from "./report-failure.ts";
import type { Terminal } from "./terminal.ts";

const terminal: Terminal = {
  env: {},
  stopped: new AbortController().signal,
  isOutputTerminal: false,
  isInputTerminal: false,
  out: async () => {},
  err: () => {},
  readInput: async () => "",
};

test.each([
  ["agent_busy", 429, 75],
  ["too_many_requests", 429, 75],
  ["unavailable", 503, 75],
  ["agent_paused", 409, 1],
  ["forbidden", 403, 77],
  ["unexpected_answer", 429, 75],
  ["unexpected_answer", 500, 75],
  ["unexpected_answer", 520, 75],
  ["unexpected_answer", 530, 75],
  ["unexpected_answer", 404, 1],
  ["internal_error", 500, 1],
])("the error %s (%i) has the exit code %i", (code, status, exitCode) => {
  const error = new BeckonError({ code, status, message: "Try again later." });
  expect(reportFailure(error, terminal, true)).toBe(exitCode);
});

test("an error of a proxy is temporary also while the command waits for a known run", () => {
  const error = { code: "unexpected_answer", status: 502, message: "Bad gateway.", runId: "run_1" };
  expect(reportFailure(new BeckonError(error), terminal, true)).toBe(75);
});
