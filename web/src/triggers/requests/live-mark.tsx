import { Button, useAsOf } from "../../ui/index.ts";

interface LiveMarkProps {
  /** Unix time of the last successful read in ms; 0 for none. Undefined if the list is live. */
  readonly staleSince: number | undefined;
  readonly retry: () => void;
}

/** Says whether a list updates automatically and, if an update fails, how old the list is. */
export function LiveMark({ staleSince, retry }: LiveMarkProps) {
  const asOf = useAsOf(staleSince);
  const isLive = staleSince === undefined;
  return (
    <span className="inline-flex min-h-6 items-center gap-2 text-dense text-ink-2">
      <span
        aria-hidden
        data-keeps-colour
        className={`size-2 rounded-full ${isLive ? "bg-tide" : "border border-ink-3"}`}
      />
      <span role="status">
        {isLive ? "Live" : `Not live${staleSince === 0 ? "" : `, as of ${asOf}`}`}
      </span>
      {isLive ? null : (
        <Button size="small" onClick={retry}>
          Retry
        </Button>
      )}
    </span>
  );
}
