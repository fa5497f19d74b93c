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

/** Returns the JSON that is printed for an error. */
function printedAsJson(error: BeckonError): unknown {
  let printed = "";
  const err = (text: string) => {
    printed += text;
  };
  reportFailure(error, { ...terminal, err }, true);
  return JSON.parse(printed);
}

test("as JSON, an error has the limit that was reached and the id of the request", () => {
  const limit = { scope: "agent", scope_id: "agt_1", metric: "cost", used: 10, limit: 10 } as const;
  const error = new BeckonError({
    code: "ceiling_reached",
    message: "It is spent.",
    runId: "run_1",
    limit: { ...limit, resets_at: null },
    requestId: "0123",
  });
  expect(printedAsJson(withMessage(error, "It is all spent."))).toEqual({
    ok: false,
    code: "ceiling_reached",
    error: "It is all spent.",
    run_id: "run_1",
    limit: { ...limit, resets_at: null },
    request_id: "0123",
  });
});

test("as JSON, an error has the Idempotency-Key with which a repeat starts no second run", () => {
  const error = new BeckonError({
    code: "timed_out",
    message: "Nothing came.",
    idempotencyKey: "once-1",
  });
  expect(printedAsJson(withMessage(error, "Repeat it."))).toEqual({
    ok: false,
    code: "timed_out",
    error: "Repeat it.",
    idempotency_key: "once-1",
  });
});

test("a rejected key after a lost response keeps the advice how to repeat the start", () => {
  const given = { code: "unauthorized", status: 401, message: "Repeat it with a key." } as const;
  const after = printedAsJson(new BeckonError({ ...given, idempotencyKey: "once-1" }));
  expect(after).toMatchObject({
    error: expect.stringMatching(/^Repeat it with a key\. .*--key-file/),
  });
  const alone = printedAsJson(new BeckonError(given));
  expect(alone).toMatchObject({ error: expect.stringContaining("the token of another agent") });
});

test.each([
  ["timed_out", undefined],
  ["no_answer", undefined],
  ["unavailable", 503],
  ["unexpected_answer", 502],
])("the error %s (%s) of a run that is known and continues has the exit code 124", (...given) => {
  const [code, status] = given;
  const error = new BeckonError({ code, status, message: "Gone.", runId: "run_1" });
  expect(reportFailure(error, terminal, true)).toBe(124);
});

test.each([
  [undefined, 78],
  ["run_1", 124],
])("an untrusted certificate (run %s) has the exit code %i and names its setting", (...given) => {
  const [runId, exitCode] = given;
  const cause = new TypeError("fetch failed", { cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
  const failed = new BeckonError({ code: "no_answer", message: "It is untrusted", runId, cause });
  for (const error of [failed, withMessage(failed, "It is untrusted")]) {
    expect(reportFailure(error, terminal, true)).toBe(exitCode);
    expect(printedAsJson(error)).toMatchObject({
      error: expect.stringMatching(/^It is untrusted\. .*NODE_EXTRA_CA_CERTS/),
    });
  }
});

test("a redirect has the exit code of a wrong setting, and says where the address comes from", () => {
  const redirect = { code: "unexpected_answer", status: 308, message: "It was redirected." };
  const error = new BeckonError(redirect);
  expect(reportFailure(error, terminal, true)).toBe(78);
  expect(printedAsJson(error)).toMatchObject({ error: expect.stringMatching(/--url.*BECKON_URL/) });
  const known = new BeckonError({ ...redirect, runId: "run_1" });
  expect(reportFailure(known, terminal, true)).toBe(124);
});

test("the error of a run that failed has the exit code 1", () => {
  const error = { code: "model_timeout", status: 500, message: "It failed.", runId: "run_1" };
  expect(reportFailure(new BeckonError(error), terminal, true)).toBe(1);
});
