import { formatAsOf } from "../../format/index.ts";
import { useTextAtNow } from "./now.ts";
import { useTimeZone } from "./time-zone.tsx";

/**
 * Returns the time of old data, for example after "as of": the time of day with seconds, after its
 * date from the next day on.
 * @param time Unix time in ms; undefined gives ""
 */
export function useAsOf(time: number | undefined): string {
  const zone = useTimeZone();
  return useTextAtNow((nowMs) => (time === undefined ? "" : formatAsOf(time, nowMs, zone)));
}
