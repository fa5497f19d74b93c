import { createContext, useContext, useMemo } from "react";
import { formatExact, formatTime } from "../../format/index.ts";
import { Tooltip } from "../tooltip/tooltip.tsx";
import { useTextAtNow } from "./now.ts";
import { useTimeZone } from "./time-zone.tsx";

/**
 * True inside rows of a table, and inside rows of a list that are links. Times in such rows cannot
 * be focused, because otherwise the Tab key would stop in every row.
 */
export const InRowContext = createContext(false);

interface TimeProps {
  /** A time in ISO 8601, or in milliseconds since 1970. For null and undefined, a dash is shown. */
  readonly value: string | number | null | undefined;
}

/**
 * A time. It is relative if it is less than 24 hours from now, otherwise a date. Hover and focus
 * show the exact time in the workspace's time zone and in UTC; inside rows, only hover does.
 */
export function Time({ value }: TimeProps) {
  const zone = useTimeZone();
  const text = useTextAtNow((nowMs) => formatTime(value ?? "", nowMs, zone));
  const inRow = useContext(InRowContext);
  const { iso, exact, utc } = useMemo(() => exactTimes(value ?? "", zone), [value, zone]);
  if (value === null || value === undefined) return <span className="text-ink-3">–</span>;
  if (inRow)
    return (
      <time
        dateTime={iso}
        title={zone === "UTC" ? utc : `${exact}\n${utc}`}
        className="relative z-1"
      >
        {text}
      </time>
    );
  return (
    <Tooltip
      content={
        <span className="flex flex-col font-mono">
          <span>{exact}</span>
          {zone === "UTC" ? null : <span>{utc}</span>}
        </span>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: focus shows the exact time */}
      <time dateTime={iso} tabIndex={0} className="rounded-bar">
        {text}
      </time>
    </Tooltip>
  );
}

function exactTimes(value: string | number, zone: string) {
  const date = new Date(value);
  const iso = Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  const utc = formatExact(value, "UTC");
  return { iso, utc, exact: zone === "UTC" ? utc : formatExact(value, zone) };
}
