import { useEffect, useRef } from "react";
import { Button } from "../action/button.tsx";

interface LoadMoreProps {
  readonly loading: boolean;
  /** True after a failure: only the button loads then, or a server in trouble gets a loop. */
  readonly paused?: boolean;
  readonly onLoadMore: () => void;
}

/** The end of a loaded list: loads the next page when it comes near, and by its button. */
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
