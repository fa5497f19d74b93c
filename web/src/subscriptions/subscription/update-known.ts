import type { Delivery, Page } from "@beckon/client";
import type { InfiniteData } from "@tanstack/react-query";

/** The loaded pages of a list of deliveries. */
export type DeliveryPages = InfiniteData<Page<Delivery>, string | null>;

/** What an update of the rows reads if it does not begin with the newest deliveries. */
export interface UpdateRange {
  /** Cursor after which the update reads. */
  readonly after: string;
  /** Id of the last delivery before the cursor; undefined if none matched the filters. */
  readonly below: string | undefined;
}

/**
 * Returns what the next update of the rows reads: the deliveries that follow `read`. Undefined if
 * the rest of the list has no scheduled attempt, so that updates begin again with the newest.
 * @param range the range of the update that has read `read`
 */
export function nextRange(
  { pages }: DeliveryPages,
  read: Page<Delivery>,
  range: UpdateRange | undefined,
): UpdateRange | undefined {
  const below = read.data.at(-1)?.id ?? range?.below;
  const isLeft = pages
    .flatMap(({ data }) => data)
    .some((row) => row.next_attempt_at !== null && isBelow(row, below));
  return read.next !== null && isLeft ? { after: read.next, below } : undefined;
}

/**
 * Returns the list with its rows as they are in `read`, which was read later. Rows that only `read`
 * has are not inserted. Rows that `read` lacks although it covers them no longer match the filters,
 * so they are removed.
 * @param read deliveries that match the filters; may be shorter than the list
 * @param range where `read` begins; undefined for the newest deliveries
 */
export function updateKnown(
  list: DeliveryPages,
  read: Page<Delivery>,
  range?: UpdateRange,
): DeliveryPages {
  const rows = new Map(read.data.map((row) => [row.id, row]));
  const last = read.data.at(-1)?.id;
  const isCovered = (row: Delivery) =>
    isBelow(row, range?.below) && (read.next === null || (last !== undefined && row.id >= last));
  const pages = list.pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => rows.get(row.id) ?? (isCovered(row) ? [] : row)),
  }));
  return { ...list, pages };
}

// Ids are ordered by the time of creation, and lists start with the newest delivery.
const isBelow = ({ id }: Delivery, below: string | undefined) => below === undefined || id < below;
