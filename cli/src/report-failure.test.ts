import { BeckonError } from "@beckon/client";
import { expect, test } from "vitest";
import { reportFailure } from "./report-failure.ts";
import type { Terminal } from "./terminal.ts";
import { withMessage } from "./with-message.ts";

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

test("as JSON, an error has the limit that was reached and the id of the request", () => {
  const limit = { scope: "agent", scope_id: "agt_1", metric: "cost", used: 10, limit: 10 } as const;
  const error = new BeckonError({
    code: "ceiling_reached",
    message: "It is spent.",
    runId: "run_1",
    limit: { ...limit, resets_at: null },
    requestId: "0123",
  });
  let printed = "";
  const err = (text: string) => {
    printed += text;
  };
  reportFailure(withMessage(error, "It is all spent."), { ...terminal, err }, true);
  expect(JSON.parse(printed)).toEqual({
    ok: false,
    code: "ceiling_reached",
    error: "It is all spent.",
    run_id: "run_1",
    limit: { ...limit, resets_at: null },
    request_id: "0123",
  });
});

test("an error of a proxy is temporary also while the command waits for a known run", () => {
  const error = { code: "unexpected_answer", status: 502, message: "Bad gateway.", runId: "run_1" };
  expect(reportFailure(new BeckonError(error), terminal, true)).toBe(75);
});
