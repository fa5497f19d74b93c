import { formatCount } from "../../format/index.ts";
import { NewRowsButton } from "../../ui/index.ts";

interface NewRunsButtonProps {
  readonly count: number;
  /** True if there may be more new runs than were counted. */
  readonly isMore: boolean;
  readonly onShow: () => void;
}

/** A button that shows how many runs have started since the list was read. */
export function NewRunsButton({ count, isMore, onShow }: NewRunsButtonProps) {
  return (
    <NewRowsButton
      label={
        count === 0
          ? undefined
          : `${formatCount(count)}${isMore ? "+" : ""} new ${count === 1 ? "run" : "runs"}`
      }
      announcement="New runs have started."
      onShow={onShow}
    />
  );
}
