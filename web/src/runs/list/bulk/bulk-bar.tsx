import type { ListedRun } from "@beckon/client";
import { Ban, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { serverNow } from "../../../data/index.ts";
import { formatCount } from "../../../format/index.ts";
import { Button, lazyPart } from "../../../ui/index.ts";
import type { RunFilters } from "../filters/run-filters.ts";
import type { BulkTarget } from "./apply-to-many.ts";
import { type BulkAction, bulkBodyOf, textSearchReason } from "./bulk-body.ts";
import {
  applicable,
  nothingSelected,
  type RunSelection,
  selectedRuns,
  whyNotApplicable,
} from "./selection.ts";

const BulkDialog = lazyPart(async () => (await import("./bulk-dialog.tsx")).BulkDialog);

interface BulkBarProps {
  readonly selection: RunSelection;
  readonly onChange: (selection: RunSelection) => void;
  readonly rows: readonly ListedRun[];
  readonly filters: RunFilters;
  /** The filters in words. */
  readonly filterWords: ReactNode;
}

interface OpenDialog {
  readonly action: BulkAction;
  readonly target: BulkTarget;
  readonly skipped: number;
}

/** The bar with the actions on the selected runs. */
export function BulkBar({ selection, onChange, rows, filters, filterWords }: BulkBarProps) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const isAll = selection.kind === "all";
  const selected = isAll ? [] : selectedRuns(rows, selection.keys);
  const clear = () => onChange(nothingSelected);

  const button = (action: BulkAction, label: string, icon: typeof Ban) => {
    const { disabledReason, target, skipped } = prepare(action);
    return (
      <Button
        size="small"
        icon={icon}
        disabledReason={disabledReason}
        onClick={() => target && setDialog({ action, target, skipped })}
      >
        {label}
      </Button>
    );
  };
  const prepare = (action: BulkAction) => {
    if (selection.kind === "all") {
      // Relative times such as `24h` are resolved now, so that all requests of the bulk operation
      // select the same runs, even if the dialog stays open for long.
      const body = bulkBodyOf(filters, action, serverNow());
      return "reason" in body
        ? { disabledReason: body.reason, skipped: 0 }
        : { target: { body }, skipped: 0 };
    }
    const ids = applicable(selected, action);
    return {
      ...(ids.length === 0
        ? { disabledReason: whyNotApplicable(selected, action) }
        : { target: { ids } }),
      skipped: selected.length - ids.length,
    };
  };
  return (
    <>
      <strong className="font-semibold">
        {isAll ? "All that match" : formatCount(selected.length)} selected
      </strong>
      {isAll ? null : (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onChange({ kind: "all" })}
          disabledReason={filters.text === undefined ? undefined : textSearchReason}
        >
          Select all matching
        </Button>
      )}
      {button("cancel", "Cancel", Ban)}
      {button("delete", "Delete", Trash2)}
      <Button size="small" variant="quiet" onClick={clear}>
        Clear selection
      </Button>
      {dialog === undefined ? null : (
        <BulkDialog
          {...dialog}
          {...(isAll && { filter: filterWords })}
          close={() => setDialog(undefined)}
          onDone={clear}
        />
      )}
    </>
  );
}
