import type { Delivery, Page } from "@beckon/client";
import type { InfiniteData } from "@tanstack/react-query";

/** The loaded pages of a list of deliveries. */
export type DeliveryPages = InfiniteData<Page<Delivery>, string | null>;

/**
 * Returns the list with its rows as they are in `head`, which was read later. Rows that only `head`
 * has are not inserted. Rows that `head` lacks although it covers them no longer match the filters,
 * so they are removed.
 * @param head the newest deliveries that match the filters; may be shorter than the list
 */
export function updateKnown(list: DeliveryPages, head: Page<Delivery>): DeliveryPages {
  const read = new Map(head.data.map((row) => [row.id, row]));
  const last = head.data.at(-1)?.id;
  // Ids are ordered by the time of creation, and lists start with the newest delivery.
  const isCovered = ({ id }: Delivery) => head.next === null || (last !== undefined && id >= last);
  const pages = list.pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => read.get(row.id) ?? (isCovered(row) ? [] : row)),
  }));
  return { ...list, pages };
}
