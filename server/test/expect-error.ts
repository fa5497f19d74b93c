import { expect } from "vitest";
import type { Answer } from "./beckon.ts";

/**
 * Asserts that `answer` is an error of the contract: this status and code, a message, and no other
 * fields.
 */
export function expectError(
  answer: Answer,
  status: number,
  code: string,
  text: RegExp = /\w/,
): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { ok: false, error: expect.stringMatching(text), code },
  });
  expect(answer.headers.get("content-type")).toBe("application/json");
}
