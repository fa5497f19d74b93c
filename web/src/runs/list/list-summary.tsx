import type { ListedRun } from "@beckon/client";
import { formatCount, formatDate, formatMoney } from "../../format/index.ts";
import { Spinner, useTimeZone } from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import { lookedBackTo } from "./looked-back.ts";

interface ListSummaryProps {
  readonly rows: readonly ListedRun[];
  readonly hasMore: boolean;
  /** Whether the list has no filters, so that its rows are the newest runs. */
  readonly isNewest: boolean;
  /**
   * Cursor of the page that is being read because the last page had no match; undefined if no page
   * is being searched.
   */
  readonly searching: string | undefined;
}

/** Shows how much of the list is loaded, and how far back a search has reached. */
export function ListSummary({ rows, hasMore, isNewest, searching }: ListSummaryProps) {
  const zone = useTimeZone();
  const back = searching === undefined ? undefined : lookedBackTo(searching);
  return (
    <span>
      {/* Always rendered, because screen readers announce only changes of an element. */}
      <span role="status" className="inline-flex items-center gap-2">
        {searching === undefined ? null : (
          <>
            <Spinner />
            {back === undefined
              ? "Searching older runs…"
              : `Searching, looked back to ${formatDate(back, Date.now(), zone)}…`}
          </>
        )}
      </span>
      {searching !== undefined || rows.length === 0 ? null : (
        <>
          {formatCount(rows.length)} {!hasMore ? "in total" : isNewest ? "newest runs" : "loaded"}
          {costText(rows.filter(isEnded))}
        </>
      )}
    </span>
  );
}

/**
 * Returns the cost of the ended runs, and how many of them have an unknown cost. If the known costs
 * are 0 in all, as those of runs that failed, an unknown cost is not shown as $0.
 */
export function costText(ended: readonly ListedRun[]): string {
  if (ended.length === 0) return "";
  const costs = ended.flatMap(({ cost_micros }) => cost_micros ?? []);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const unknown = ended.length - costs.length;
  if (total === 0 && unknown > 0) return " · cost unknown";
  const mark = ended.some(({ usage }) => usage.estimated) ? "~" : "";
  const text = mark + formatMoney(total);
  if (unknown === 0) return ` · ${text}`;
  return ` · at least ${text}, cost of ${formatCount(unknown)} unknown`;
}
