/**
 * Returns a duration as people read it: `840 ms`, `3.41 s`, `16.2 s`, `2 m 14 s`, `3 h 5 m`,
 * `2 d 4 h`.
 *
 * @param ms milliseconds; null, undefined and negative values give "unknown"
 */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !(ms >= 0)) return "unknown";
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(seconds, 60, "m", 1, "s");
  if (seconds < 86_400) return pair(seconds, 3600, "h", 60, "m");
  return pair(seconds, 86_400, "d", 3600, "h");
}

function pair(seconds: number, major: number, majorUnit: string, minor: number, unit: string) {
  const high = Math.floor(seconds / major);
  const low = Math.floor((seconds % major) / minor);
  return low === 0 ? `${high} ${majorUnit}` : `${high} ${majorUnit} ${low} ${unit}`;
}
