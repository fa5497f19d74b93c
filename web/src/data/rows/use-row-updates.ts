import type { Page } from "@beckon/client";
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { isAtTop } from "../../ui/index.ts";
import {
  hasNewRows,
  maxUpdated,
  type PageQuery,
  type RowPages,
  updateRows,
  useInvalidation,
} from "../list.ts";

/** The options of a list with `heldWhileScrolled` (see `listOptions`). */
interface HeldList<Row> {
  readonly queryKey: QueryKey;
  readonly readPage: (page: PageQuery) => Promise<Page<Row>>;
}

/**
 * Updates a list with `heldWhileScrolled` when it is opened again and when its data is invalidated.
 * At the top of the page, the list begins anew. Otherwise its rows are updated in place, and new
 * ones wait.
 * @param topPx see `isAtTop`
 * @param onNews called when new rows wait
 * @returns a function that ends an update in progress. Call it before the list is read anew: the
 *   rows of the update are older, and would replace those of this read.
 */
export function useRowUpdates<Row extends { readonly id: string }>(
  { queryKey, readPage }: HeldList<Row>,
  topPx: number,
  onNews?: () => void,
): () => void {
  const queryClient = useQueryClient();
  /** Number of updates so far, and of calls that end them. Only the last update continues. */
  const updates = useRef(0);
  const endUpdate = () => void updates.current++;
  useEffect(() => () => void updates.current++, []);
  const update = async () => {
    const number = ++updates.current;
    const isCurrent = () => number === updates.current;
    try {
      const head = await readPage({ limit: maxUpdated });
      if (!isCurrent()) return;
      const known = queryClient.getQueryData<RowPages<Row>>(queryKey);
      // The position of the page is known only now: when a list is opened by Back, it is restored
      // after the list was rendered.
      if (isAtTop(topPx)) {
        await queryClient.cancelQueries({ queryKey, exact: true });
        queryClient.setQueryData<RowPages<Row>>(queryKey, { pages: [head], pageParams: [null] });
        return;
      }
      if (hasNewRows(known, head)) onNews?.();
      await updateRows(queryClient, queryKey, head, { readPage, isCurrent });
    } catch (thrown) {
      const error = thrown as Error;
      const query = queryClient.getQueryCache().find({ queryKey });
      if (isCurrent()) query?.setState({ status: "error", error, fetchMeta: null });
    }
  };
  useInvalidation(queryKey, () => void update());
  return endUpdate;
}
