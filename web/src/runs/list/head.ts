import type { ListedRun, Page } from "@beckon/client";
import type { InfiniteData } from "@tanstack/react-query";

/** The loaded pages of a list of runs. */
export type RunPages = InfiniteData<Page<ListedRun>, string | null>;

/** Number of runs of the newest page, and of each page that is read after it. */
export const pageSize = 50;
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
  if (last === undefined) return list;
  const known = list.pages.flatMap((page) => page.data);
  // Ids are ordered by the time of creation, and lists start with the newest run. If all known runs
  // are older than `head`, there can be runs between them.
  if (!known.some(({ id }) => id >= last)) return startOf(head);
  const older = list.pages.flatMap((page) => {
    const data = page.data.filter(({ id }) => id < last);
    // A page that had no row is kept: its cursor says how far a search has looked back.
    return data.length > 0 || page.data.length === 0 ? [{ ...page, data }] : [];
  });
  const pages = firstPages([head, ...joinFirst(older)]);
  return { pages, pageParams: [null, ...pages.slice(0, -1).map(({ next }) => next)] };
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

const startOf = (head: Page<ListedRun>): RunPages => ({ pages: [head], pageParams: [null] });
