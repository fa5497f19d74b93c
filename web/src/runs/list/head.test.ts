import type { ListedRun, Page } from "@beckon/client";
import { expect, test } from "vitest";
import { countNew, mergeHead, type RunPages } from "./head.ts";
import { lookedBackTo } from "./looked-back.ts";

const page = (ids: readonly number[], next: string | null): Page<ListedRun> => ({
  data: ids.map((id) => ({ id: `run_${String(id).padStart(2, "0")}` }) as ListedRun),
  next,
});
const list = (...pages: Page<ListedRun>[]): RunPages => ({
  pages,
  pageParams: pages.map((_, index) => (index === 0 ? null : `p${index}`)),
});
const ids = ({ pages }: RunPages) =>
  pages.map(({ data }) => data.map(({ id }) => String(Number(id.slice(4)))));

const loaded = list(page([7, 6, 5], "a"), page([4, 3, 2], "b"));

test("runs that started enter before the others, and the cursors stay", () => {
  const head = page([9, 8, 7], "x");
  expect(countNew(loaded, head)).toBe(2);
  const merged = mergeHead(loaded, head);
  expect(ids(merged)).toEqual([
    ["9", "8", "7", "6", "5"],
    ["4", "3", "2"],
  ]);
  expect(merged.pages.map(({ next }) => next)).toEqual(["a", "b"]);
  expect(merged.pageParams).toEqual(loaded.pageParams);
});

test("rows that no longer match leave the range of the page, a late match enters it", () => {
  const merged = mergeHead(loaded, page([8, 6, 4], "x"));
  expect(ids(merged)).toEqual([
    ["8", "6", "4"],
    ["3", "2"],
  ]);
});

test("if runs are missing in between, the list starts again", () => {
  const head = page([20, 19, 18], "x");
  expect(mergeHead(loaded, head)).toEqual({ pages: [head], pageParams: [null] });
});

test("a page that is the whole list replaces it, a page without a match changes nothing", () => {
  expect(ids(mergeHead(loaded, page([8], null)))).toEqual([["8"]]);
  expect(mergeHead(loaded, page([], "x"))).toBe(loaded);
});

test("how far a search has looked is in its cursor, if it is one that is known", () => {
  const cursor = btoa("abcdefgh.run_01jbrc2y800000000000000000").replaceAll("=", "");
  const time = new Date(lookedBackTo(cursor) ?? 0).toISOString();
  expect(time).toMatch(/^2024-11-/);
  expect(lookedBackTo("another form")).toBeUndefined();
  expect(lookedBackTo(btoa("run_00000000000000000000000000"))).toBeUndefined();
});
