import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";
import { newId } from "./ids.ts";
import { readPage } from "./page.ts";

const filter = { list: "runs", agentId: "agt_1" };
const rows = (count: number) =>
  Array.from({ length: count }, () => ({ id: newId("run") })).sort((a, b) =>
    a.id < b.id ? 1 : -1,
  );

function errorOf(act: () => unknown): ApiError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
  throw new Error("there was no error");
}

test("all pages together contain each row once", () => {
  const all = rows(7);
  const seen: string[] = [];
  let after: string | null = null;
  let pages = 0;
  do {
    const request = readPage({ limit: "3", ...(after === null ? {} : { after }) }, filter);
    const below = request.below;
    const page = request.page(
      all.filter((row) => below === undefined || row.id < below).slice(0, request.limit + 1),
    );
    seen.push(...page.data.map((row) => row.id));
    after = page.next;
    pages++;
  } while (after !== null);
  expect(seen).toEqual(all.map((row) => row.id));
  expect(pages).toBe(3);
});

test("the last page has no cursor", () => {
  const request = readPage({ limit: "3" }, filter);
  expect(request.page(rows(3)).next).toBeNull();
  expect(request.page([])).toEqual({ data: [], next: null });
});

test("a cursor of another list or filter is rejected", () => {
  const cursor = readPage({ limit: "1" }, filter).page(rows(2)).next;
  expect(readPage({ after: cursor }, filter).below).toMatch(/^run_/);
  const error = errorOf(() => readPage({ after: cursor }, { ...filter, agentId: "agt_2" }));
  expect(error).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining(
      "query parameter after is not a cursor of this list and filter. Start again",
    ),
  });
});

test("an invalid cursor is rejected", () => {
  const cursor = readPage({ limit: "1" }, filter).page(rows(2)).next ?? "";
  const mark = Buffer.from(cursor, "base64url").toString().split(".")[0];
  const forged = (id: string) => Buffer.from(`${mark}.${id}`).toString("base64url");
  for (const after of [
    "x",
    cursor.slice(0, -3),
    forged("' or true --"),
    forged(""),
    forged("run_short"),
    "\u0000",
    "…",
  ]) {
    expect(errorOf(() => readPage({ after }, filter)).code).toBe("bad_request");
  }
});

test.each(["0", "201", "-1", "1.5", "many"])(
  "a limit of %s is rejected, and the error names it",
  (limit) => {
    expect(errorOf(() => readPage({ limit }, filter))).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("limit"),
    });
  },
);
