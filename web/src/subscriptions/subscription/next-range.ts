import type { Delivery, Page } from "@beckon/client";
import { maxUpdated, type PageQuery, type RowPages } from "../../data/index.ts";

/** The loaded pages of a list of deliveries. */
export type DeliveryPages = RowPages<Delivery>;

/** What an update of the rows reads if it does not begin with the newest deliveries. */
export interface UpdateRange {
  /** Cursor after which the update reads. */
  readonly after: string;
  /** Id of the last delivery before the cursor; undefined if none matched the filters. */
  readonly below: string | undefined;
}

/**
 * Reads what one update of the rows needs. The newest delivery is read separately, so that events
 * do not restart the updates: otherwise updates of a busy workspace would never reach older rows.
 * @param range what the update reads; undefined if it begins with the newest deliveries
 * @param isNews whether there can be new deliveries that are not announced yet
 * @returns `rows` of the range, and `newest`, which begins with the newest delivery; undefined if
 *   it was not read
 */
export async function readUpdate(
  readPage: (page: PageQuery) => Promise<Page<Delivery>>,
  range: UpdateRange | undefined,
  isNews: boolean,
) {
  if (range === undefined) {
    const newest = await readPage({ limit: maxUpdated });
    return { rows: newest, newest };
  }
  const [rows, newest] = await Promise.all([
    readPage({ limit: maxUpdated, after: range.after }),
    isNews ? readPage({ limit: 1 }) : undefined,
  ]);
  return { rows, newest };
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
