import { hashKey, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatCounted } from "../../format/index.ts";
import type { listOptions } from "../list.ts";

interface ListStatusProps<Row> {
  /** The options of the list. Its pages are loaded by `useList`. */
  readonly query: ReturnType<typeof listOptions<Row>>;
}

/**
 * Announces the number of rows when the list has become another one, for example by a filter. Later
 * changes of the same list are not announced. It must stay rendered when the list becomes another
 * one, because screen readers announce only changes of an element.
 */
export function ListStatus<Row>({ query }: ListStatusProps<Row>) {
  const { data, hasNextPage } = useInfiniteQuery({ ...query, enabled: false });
  const list = hashKey(query.queryKey);
  const [announced, setAnnounced] = useState({ list, text: "" });
  const count = data?.pages.flatMap((page) => page.data).length ?? 0;
  // While no page has a row, further pages are read.
  const isKnown = data !== undefined && (count > 0 || !hasNextPage);
  if (list !== announced.list && isKnown) setAnnounced({ list, text: textOf(count, hasNextPage) });
  return (
    <p role="status" className="sr-only">
      {list === announced.list ? announced.text : ""}
    </p>
  );
}

function textOf(count: number, hasMore: boolean): string {
  if (count === 0) return "No rows";
  return `${formatCounted(count, "row")}${hasMore ? ", more follow" : ""}`;
}
