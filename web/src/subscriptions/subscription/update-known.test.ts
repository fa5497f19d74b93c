import type { Delivery, Page } from "@beckon/client";
import { expect, test } from "vitest";
import { type DeliveryPages, updateKnown } from "./update-known.ts";

/** Returns a page of deliveries, given as `3 pending`. */
const page = (rows: readonly string[], next: string | null): Page<Delivery> => ({
  data: rows.map((row) => {
    const [id, status] = row.split(" ");
    return { id: `dlv_${id}`, status } as Delivery;
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
