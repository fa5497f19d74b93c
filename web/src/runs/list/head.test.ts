import type { ListedRun, Page } from "@beckon/client";
import { expect, test, vi } from "vitest";
import type { RunPages } from "./head.ts";
import { lookedBackTo } from "./looked-back.ts";

/** Stubs the globals of a browser that the imported modules use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { countNew, mergeHead } = await import("./head.ts");

const page = (ids: readonly number[], next: string | null): Page<ListedRun> => ({
  data: ids.map((id) => ({ id: `run_${String(id).padStart(4, "0")}` }) as ListedRun),
  next,
});
const list = (...pages: Page<ListedRun>[]): RunPages => ({
  pages,
  pageParams: pages.map((_, index) => (index === 0 ? null : `p${index}`)),
});
const ids = ({ pages }: RunPages) =>
  pages.map(({ data }) => data.map(({ id }) => String(Number(id.slice(4)))));

const loaded = list(page([7, 6, 5], "a"), page([4, 3, 2], "b"));

test("runs that started enter before the others, each page with the cursor after it", () => {
  const head = page([9, 8, 7], "x");
  expect(countNew(loaded, head)).toBe(2);
  const merged = mergeHead(loaded, head);
  expect(ids(merged)).toEqual([
    ["9", "8", "7"],
    ["6", "5", "4", "3", "2"],
  ]);
  expect(merged.pages.map(({ next }) => next)).toEqual(["x", "b"]);
  expect(merged.pageParams).toEqual([null, "x"]);
});

test("a list that grows at its top keeps its newest rows, and no page is larger than a read", () => {
  const newestPage = (newest: number) =>
    page(
      Array.from({ length: 50 }, (_, index) => newest - index),
      `after ${newest - 49}`,
    );
  let merged = list(newestPage(100));
  for (let newest = 101; newest <= 2_000; newest += 1 + (newest % 30))
    merged = mergeHead(merged, newestPage(newest));
  const rows = ids(merged).flat().map(Number);
  const [newest = 0] = rows;
  expect(newest).toBeGreaterThan(1_950);
  expect(rows).toEqual(rows.map((_, index) => newest - index));
  expect(rows.length).toBeGreaterThanOrEqual(200);
  expect(rows.length).toBeLessThan(250);
  expect(Math.max(...merged.pages.map(({ data }) => data.length))).toBe(50);
  expect(merged.pages.length).toBeLessThan(10);
  expect(merged.pages.map(({ next }) => next)).toEqual(
    ids(merged).map((page) => `after ${page.at(-1)}`),
  );
});

test("a page that replaces all rows has its own cursor, so that no row is loaded twice", () => {
  const merged = mergeHead(list(page([7, 6, 5], "a")), page([8, 6, 4], "x"));
  expect(merged).toEqual(list(page([8, 6, 4], "x")));
});

test("a search continues where it has looked back to", () => {
  const searched = list(page([7, 6], "a"), page([], "b"));
  const merged = mergeHead(searched, page([9, 7, 6], "x"));
  expect(ids(merged)).toEqual([["9", "7", "6"], []]);
  expect(merged.pages.at(-1)?.next).toBe("b");
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

test("a page that is the whole list replaces it", () => {
  expect(ids(mergeHead(loaded, page([8], null)))).toEqual([["8"]]);
});

const cursor = "YWJjZGVmZ2gucnVuXzAxamJyYzJ5ODAwMDAwMDAwMDAwMDAwMDAw";
const back = lookedBackTo(cursor) ?? 0;

test("a search that has looked back further than its new run keeps its older ones", () => {
  const merged = mergeHead(list(page([6], `a@${back + 6_000}`)), page([9], `${cursor}@${back}`));
  expect(ids(merged)).toEqual([["9"], ["6"]]);
});

test.each([
  ["that looked back to the last read leaves the rows", 600_000, -6_000, [[], ["6"], []]],
  ["that did not look back to it starts the list again", 600_000, 1_000, [[]]],
  ["of a list that is live leaves the rows", 15_000, 1_000, [[], ["6"], []]],
])("a newest page without a match %s", (_, afterMs, backMs, rows) => {
  const empty = page([], `${cursor}@${back - backMs + afterMs}`);
  const searched = list(page([6], `a@${back - backMs}`), page([], "b"));
  const merged = mergeHead(searched, empty);
  expect(ids(merged)).toEqual(rows);
  // The next ones replace it.
  expect(mergeHead(merged, empty).pages.length).toBeLessThan(4);
});

test("how far a search has looked is in its cursor, if it is one that is known", () => {
  const cursor = btoa("abcdefgh.run_01jbrc2y800000000000000000").replaceAll("=", "");
  const time = new Date(lookedBackTo(cursor) ?? 0).toISOString();
  expect(time).toMatch(/^2024-11-/);
  expect(lookedBackTo("another form")).toBeUndefined();
  expect(lookedBackTo(btoa("run_00000000000000000000000000"))).toBeUndefined();
});
