import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorResponse, reservedRunErrorCodes, runErrorCode, scopes } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { ApiError } from "../base/errors.ts";
import { apiErrors, errorResponse } from "./errors.ts";

const root = join(import.meta.dirname, "..");

/** Text of the server's source files, without tests and the examples of the documentation. */
const sources = globSync("**/*.ts", { cwd: root })
  .filter((file) => !/\.test\.ts$|^http\/openapi\//.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

/**
 * Returns whether the sources contain the value as a string literal. Property names do not count,
 * because tables such as `apiErrors` have a property for every error code, used or not.
 */
const isUsed = (value: string) =>
  ["'", '"', "`"].some((quote) => sources.includes(`${quote}${value}${quote}`));

test("the server uses every error code of the contract except the reserved ones", () => {
  const codes = [...Object.keys(apiErrors), ...runErrorCode.options];
  expect(codes.filter((code) => !isUsed(code))).toEqual([...reservedRunErrorCodes]);
});

test("the server uses every scope of the contract", () => {
  expect(scopes.filter((scope) => !isUsed(scope))).toEqual([]);
});

describe("the response to an error", () => {
  const { log, lines } = captureLog();
  const respond = async (thrown: unknown, requestId = "rid_1") => {
    lines.length = 0;
    const response = errorResponse(thrown, { log, route: "/agents", requestId });
    return {
      status: response.status,
      body: (await response.json()) as ErrorResponse,
      lines: [...lines],
    };
  };

  test("that is a fault of ours names the id by which its line in the log is found", async () => {
    const { status, body, lines: logged } = await respond(new Error("of the database"));
    expect([status, body.code]).toEqual([500, "internal_error"]);
    expect(body.error).toMatch(/ Request id: rid_1\.$/);
    expect(body.error).not.toContain("database");
    expect(logged).toEqual([
      expect.objectContaining({
        level: "error",
        request_id: "rid_1",
        route: "/agents",
        reason: "of the database",
        stack: expect.any(String),
      }),
    ]);
  });

  test("that is an unavailability names the id, and its cause is logged", async () => {
    const cause = new Error("connection refused");
    const {
      status,
      body,
      lines: logged,
    } = await respond(new ApiError("unavailable", "The database is away.", { cause }));
    expect(status).toBe(503);
    expect(body.error).toBe("The database is away. Request id: rid_1.");
    expect(logged).toEqual([
      expect.objectContaining({ level: "warn", reason: "connection refused", count: 1 }),
    ]);
  });

  test("that is the client's has no id in its text and is not logged", async () => {
    const { body, lines: logged } = await respond(new ApiError("not_found", "No such agent."));
    expect([body, logged]).toEqual([{ ok: false, error: "No such agent.", code: "not_found" }, []]);
  });

  test("that is an unavailability is logged once, not for each request", async () => {
    lines.length = 0;
    for (let count = 0; count < 100; count++)
      errorResponse(new ApiError("unavailable", "Full."), {
        log,
        route: "/agents",
        requestId: `rid_${count}`,
      });
    expect(lines).toEqual([
      expect.objectContaining({ request_id: "rid_0", route: "/agents", reason: "Full.", count: 1 }),
    ]);
  });
});
