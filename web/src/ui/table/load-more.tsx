import { useEffect, useRef } from "react";
import { Button } from "../action/button.tsx";

interface LoadMoreProps {
  readonly loading: boolean;
  /**
   * True after a failure. The next page is then loaded only by the button, because automatic
   * retries would be an endless loop. Default false.
   */
  readonly paused?: boolean;
  readonly onLoadMore: () => void;
}

/**
 * The end of a list with further pages. It loads the next page when it comes near the visible part,
 * or when its button is pressed.
 */
export function LoadMore({ loading, paused = false, onLoadMore }: LoadMoreProps) {
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (loading || paused || mark.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onLoadMore();
      },
      { rootMargin: "600px" },
    );
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, [loading, paused, onLoadMore]);
  return (
    <div ref={mark} className="flex justify-center p-3">
      <Button
        size="small"
        variant="quiet"
        pending={loading}
        pendingText="Loading…"
        onClick={onLoadMore}
      >
        Load more
      </Button>
    </div>
  );
}
