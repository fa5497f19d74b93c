import { formatAsOf } from "../../format/index.ts";
import { onClock, useTextAtNow } from "./now.ts";
import { useTimeZone } from "./time-zone.tsx";

/**
 * Returns the time of old data, for example after "as of": the time of day with seconds, after its
 * date from the next day on.
 * @param time of the browser's clock, as Unix time in ms; undefined gives ""
 */
export function useAsOf(time: number | undefined): string {
  const zone = useTimeZone();
  return useTextAtNow((nowMs) =>
    time === undefined ? "" : formatAsOf(onClock(time), nowMs, zone),
  );
}
