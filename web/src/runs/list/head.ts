import type { ListedRun, Page } from "@beckon/client";
import type { InfiniteData } from "@tanstack/react-query";

/** The loaded pages of a list of runs. */
export type RunPages = InfiniteData<Page<ListedRun>, string | null>;

/** Returns how many runs of the newest page are not in the list. */
export function countNew(pages: RunPages, head: Page<ListedRun>): number {
  const known = new Set(pages.pages.flatMap((page) => page.data.map(({ id }) => id)));
  return head.data.filter(({ id }) => !known.has(id)).length;
}

/**
 * Returns the list with its refetched newest page `head`. All rows that are not older than the last
 * row of `head` are replaced, so rows that no longer match the filters disappear. If runs between
 * `head` and the older rows can be missing, `head` replaces the whole list.
 */
export function mergeHead(list: RunPages, head: Page<ListedRun>): RunPages {
  const last = head.data.at(-1)?.id;
  if (head.next === null) return startOf(head);
  if (last === undefined) return list;
  const known = list.pages.flatMap((page) => page.data);
  // Ids are ordered by the time of creation, and lists start with the newest run. If all known runs
  // are older than `head`, there can be runs between them.
  if (!known.some(({ id }) => id >= last)) return startOf(head);
  const pages = list.pages.map((page) => ({
    ...page,
    data: page.data.filter(({ id }) => id < last),
  }));
  const [first, ...rest] = pages;
  if (first === undefined) return startOf(head);
  return { ...list, pages: [{ ...first, data: [...head.data, ...first.data] }, ...rest] };
}

const startOf = (head: Page<ListedRun>): RunPages => ({ pages: [head], pageParams: [null] });
