/** The parts of Beckon that have a log level of their own. */
export const logAreas = [
  "process",
  "database",
  "http",
  "auth",
  "runs",
  "triggers",
  "models",
  "deliveries",
  "limits",
] as const;
/** A part of Beckon with a log level of its own. */
export type LogArea = (typeof logAreas)[number];

/** All levels, from the highest to the lowest, and `silent`, with which nothing is written. */
export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** A log level. */
export type LogLevel = (typeof logLevels)[number];

/** The lowest level that is written: for each area in `areas`, and for all other areas. */
export interface LogLevels {
  readonly others: LogLevel;
  readonly areas: { readonly [Area in LogArea]?: LogLevel };
}

/**
 * Parses LOG_LEVEL: a level, `area=level` entries, or both, separated by commas.
 * @returns undefined if an entry is wrong or sets a level twice.
 */
export function parseLogLevels(text: string): LogLevels | undefined {
  let others: LogLevel | undefined;
  const areas: { [Area in LogArea]?: LogLevel } = {};
  for (const entry of text.split(",")) {
    const [first = "", second, ...more] = entry.split("=");
    const level = logLevels.find((each) => each === (second ?? first));
    if (level === undefined || more.length > 0) return undefined;
    if (second === undefined) {
      if (others !== undefined) return undefined;
      others = level;
      continue;
    }
    const area = logAreas.find((each) => each === first);
    if (area === undefined || areas[area] !== undefined) return undefined;
    areas[area] = level;
  }
  return { others: others ?? "info", areas };
}
