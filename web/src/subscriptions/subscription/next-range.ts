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
  // Ids are ordered by the time of creation, and lists start with the newest delivery.
  const isLeft = pages
    .flatMap(({ data }) => data)
    .some((row) => row.next_attempt_at !== null && (below === undefined || row.id < below));
  return read.next !== null && isLeft ? { after: read.next, below } : undefined;
}
