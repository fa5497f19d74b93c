import type { ListedRun, Page } from "@beckon/client";
import { pageSize, type RowPages } from "../../data/index.ts";
import { lookedBackTo, readAt } from "./looked-back.ts";

/** The loaded pages of a list of runs. */
export type RunPages = RowPages<ListedRun>;

/** Number of rows after which pages are removed. It is more than fits on the largest screen. */
const maxRows = 200;

/** Returns how many runs of the newest page are not in the list. */
export function countNew(pages: RunPages, head: Page<ListedRun>): number {
  const known = new Set(pages.pages.flatMap((page) => page.data.map(({ id }) => id)));
  return head.data.filter(({ id }) => !known.has(id)).length;
}

/**
 * Returns the list with its refetched newest page `head`. All rows that are not older than the last
 * row of `head` are replaced, so rows that no longer match the filters disappear. If runs between
 * `head` and the older rows can be missing, `head` replaces the whole list.
 *
 * No page gets more than `pageSize` rows, so a refetch of all pages returns all rows of the list.
 * Call it only if the person is at the top of the list: pages further down are removed, because the
 * list would otherwise grow without limit. They are read again when the person scrolls to them.
 */
export function mergeHead(list: RunPages, head: Page<ListedRun>): RunPages {
  const last = head.data.at(-1)?.id;
  if (head.next === null) return startOf(head);
  if (last === undefined) return withEmptyHead(list, head);
  const known = list.pages.flatMap((page) => page.data);
  // Ids are ordered by the time of creation, and lists start with the newest run. If all known runs
  // are older than `head`, there can be runs between them, unless a search has looked back further.
  if (!known.some(({ id }) => id >= last) && hasGap(list, head)) return startOf(head);
  const older = list.pages.flatMap((page) => {
    const data = page.data.filter(({ id }) => id < last);
    // A page that had no row is kept: its cursor says how far a search has looked back.
    return data.length > 0 || page.data.length === 0 ? [{ ...page, data }] : [];
  });
  return listOf(firstPages([head, ...joinFirst(older)]));
}

const listOf = (pages: Page<ListedRun>[]): RunPages => ({
  pages,
  pageParams: [null, ...pages.slice(0, -1).map(({ next }) => next)],
});

/**
 * Time in ms after which the newest page was not read regularly, for example because the tab was
 * hidden or another screen was open.
 */
const maxLiveMs = 60_000;
/** Maximum difference in ms between the clocks that set the ids of runs and the times of reads. */
const maxSkewMs = 5_000;

/** Returns when the newest page of the list was read; the earliest time if it is not known. */
const lastReadAt = ({ pages: [first] }: RunPages) => readAt(first?.next ?? null);

/** Returns whether `head` may not look back to when the newest page was last read. */
const hasGap = (list: RunPages, { next }: Page<ListedRun>) =>
  (lookedBackTo(next ?? "") ?? Number.POSITIVE_INFINITY) >= lastReadAt(list) - maxSkewMs;

/**
 * Returns the list with a newest page that has no run, because a search reads only so many runs for
 * a page. If the search has not looked back to the last read, it can have missed runs in between,
 * so the list starts again. It does not while the page is read regularly: in a workspace with very
 * many new runs, the search would never end.
 */
function withEmptyHead(list: RunPages, head: Page<ListedRun>): RunPages {
  const [first, ...others] = list.pages;
  const isLive = readAt(head.next) - lastReadAt(list) < maxLiveMs;
  if (first === undefined || (!isLive && hasGap(list, head))) return startOf(head);
  // The newest page is kept, because its cursor has the time of the read. It replaces an earlier
  // one without a run, unless that has the cursor that continues the search.
  const older = first.data.length === 0 && others.length > 0 ? others : list.pages;
  return listOf([head, ...older]);
}

/** Joins the first two pages if they fit into one, so that no pages of single rows accumulate. */
function joinFirst(pages: readonly Page<ListedRun>[]): readonly Page<ListedRun>[] {
  const [first, second, ...rest] = pages;
  if (first === undefined || second === undefined || second.data.length === 0) return pages;
  const data = [...first.data, ...second.data];
  return data.length > pageSize ? pages : [{ ...second, data }, ...rest];
}

/** Returns the first pages up to the one that reaches `maxRows`. */
function firstPages(pages: Page<ListedRun>[]): Page<ListedRun>[] {
  let rows = 0;
  const last = pages.findIndex(({ data }) => {
    rows += data.length;
    return rows >= maxRows;
  });
  return last === -1 ? pages : pages.slice(0, last + 1);
}

/** Returns a list that begins anew with its newest page. */
export const startOf = (head: Page<ListedRun>): RunPages => listOf([head]);
