import { ArrowUp } from "lucide-react";
import { formatCount } from "../../format/index.ts";
import { Button } from "../../ui/index.ts";

interface NewRunsButtonProps {
  readonly count: number;
  /** True if there may be more new runs than were counted. */
  readonly isMore: boolean;
  readonly onShow: () => void;
}

/**
 * A button that shows how many runs have started since the list was read. It floats above the rows.
 */
export function NewRunsButton({ count, isMore, onShow }: NewRunsButtonProps) {
  return (
    <div className="pointer-events-none sticky top-10 z-3 flex h-0 justify-center">
      {/* Announced once, and not again for each further run. */}
      <span role="status" className="sr-only">
        {count > 0 ? "New runs have started." : ""}
      </span>
      {count === 0 ? null : (
        <span className="pointer-events-auto h-fit rounded-control bg-sheet shadow-popup">
          <Button size="small" variant="primary" icon={ArrowUp} onClick={onShow}>
            {`${formatCount(count)}${isMore ? "+" : ""} new ${count === 1 ? "run" : "runs"}`}
          </Button>
        </span>
      )}
    </div>
  );
}
