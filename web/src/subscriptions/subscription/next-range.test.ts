import type { Delivery, Page } from "@beckon/client";
import { expect, test, vi } from "vitest";
import { maxUpdated, type PageQuery, updateKnown } from "../../data/list.ts";
import type { DeliveryPages } from "./next-range.ts";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { nextRange, readUpdate } = await import("./next-range.ts");

/** Returns a page of deliveries, given as `3 pending`. */
const page = (rows: readonly string[], next: string | null): Page<Delivery> => ({
  data: rows.map((row) => {
    const [id, status] = row.split(" ");
    const next = status === "pending" ? "2026-11-03T12:00:00.000Z" : null;
    return { id: `dlv_${id}`, status, next_attempt_at: next } as Delivery;
  }),
  next,
});
const rowsOf = ({ pages }: DeliveryPages) =>
  pages.map(({ data }) => data.map(({ id, status }) => `${id.slice(4)} ${status}`));

const list: DeliveryPages = {
  pages: [page(["6 pending", "5 succeeded"], "a"), page(["4 pending", "3 pending"], "b")],
  pageParams: [null, "a"],
};

test("the rows of all pages show their new states, and newer deliveries are not inserted", () => {
  const head = page(["8 pending", "7 pending", "6 succeeded", "5 succeeded", "4 failed"], "x");
  const updated = updateKnown(list, head);
  expect(rowsOf(updated)).toEqual([
    ["6 succeeded", "5 succeeded"],
    ["4 failed", "3 pending"],
  ]);
  expect(updated.pages.map(({ next }) => next)).toEqual(["a", "b"]);
  expect(updated.pageParams).toBe(list.pageParams);
});

test.each([
  ["only in the range that was read", page(["5 succeeded"], "x"), ["5", "4", "3"]],
  ["everywhere if all was read", page(["5 succeeded"], null), ["5"]],
  ["nowhere if no match was read and older ones can follow", page([], "x"), ["6", "5", "4", "3"]],
])("rows that no longer match the filters disappear %s", (_, head, ids) => {
  expect(
    rowsOf(updateKnown(list, head))
      .flat()
      .map((row) => row.split(" ")[0]),
  ).toEqual(ids);
});

test("an update that continues after another one keeps the rows before it", () => {
  const range = { after: "x", below: "dlv_5" };
  const updated = updateKnown(list, page(["3 failed"], null), range.below);
  expect(rowsOf(updated)).toEqual([["6 pending", "5 succeeded"], ["3 failed"]]);
});

test("updates continue until they have covered all scheduled attempts, then begin again", () => {
  const newest = page(["9 pending", "8 pending"], "x");
  const first = nextRange(list, newest, undefined);
  expect(first).toEqual({ after: "x", below: "dlv_8" });
  // None of the deliveries that the server has searched matches the filters.
  const second = nextRange(list, page([], "y"), first);
  expect(second).toEqual({ after: "y", below: "dlv_8" });
  expect(nextRange(list, page(["6 pending", "5 succeeded"], "z"), second)).toEqual({
    after: "z",
    below: "dlv_5",
  });
  expect(nextRange(list, page(["4 pending", "3 pending"], "a"), second)).toBeUndefined();
  expect(nextRange(list, page(["6 pending"], null), second)).toBeUndefined();
});

test.each([
  ["while new rows wait, events do not restart the update", false, ["x"]],
  ["an event does not restart the update, but reads the newest delivery", true, ["x", "newest"]],
])("%s", async (_, isNews, reads) => {
  const read: string[] = [];
  const readPage = async ({ after, limit }: PageQuery) => {
    read.push(after ?? (limit === 1 ? "newest" : "newest ones"));
    return after === undefined ? page(["9 pending"], "w") : page(["4 failed"], "y");
  };
  const update = await readUpdate(readPage, { after: "x", below: "dlv_5" }, isNews);
  expect(read).toEqual(reads);
  expect(update.rows.data[0]?.id).toBe("dlv_4");
  expect(update.newest?.data[0]?.id).toBe(isNews ? "dlv_9" : undefined);
});

test("an update that begins with the newest deliveries reads them once", async () => {
  const limits: number[] = [];
  const newest = page(["9 pending"], "x");
  const readPage = async ({ limit }: PageQuery) => {
    limits.push(limit);
    return newest;
  };
  expect(await readUpdate(readPage, undefined, true)).toEqual({ rows: newest, newest });
  expect(limits).toEqual([maxUpdated]);
});
