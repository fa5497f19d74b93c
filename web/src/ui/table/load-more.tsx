import { useEffect, useRef } from "react";
import { Button } from "../action/button.tsx";
import type { RowsQuery } from "./rows-query.ts";

/**
 * The end of a list with further pages. It loads the next page when it comes near the visible part,
 * or when its button is pressed. Without a next page, nothing is shown.
 */
export function LoadMore({ query }: { readonly query: RowsQuery }) {
  const { error, hasNextPage = false, isFetchingNextPage = false, fetchNextPage } = query;
  const { isFetching = isFetchingNextPage } = query;
  const mark = useRef<HTMLDivElement>(null);
  // The next page waits until a refetch has ended: `fetchNextPage` would cancel the refetch, and
  // the rows would stay old. After a failure, only the button loads the next page, because
  // automatic retries would be an endless loop.
  const isAutomatic = hasNextPage && !isFetching && (error ?? null) === null;
  useEffect(() => {
    if (!isAutomatic || mark.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting))
          fetchNextPage?.({ cancelRefetch: false });
      },
      { rootMargin: "600px" },
    );
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, [isAutomatic, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={mark} className="flex justify-center p-3">
      <Button
        size="small"
        variant="quiet"
        pending={isFetchingNextPage}
        pendingText="Loading…"
        onClick={() => fetchNextPage?.({ cancelRefetch: false })}
      >
        Load more
      </Button>
    </div>
  );
}
