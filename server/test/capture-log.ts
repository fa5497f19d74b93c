import { createLog, type Log } from "../src/base/log.ts";
import type { LogLevels, LogLineName } from "../src/base/logging/index.ts";

/** A parsed log line. Untyped, so that tests need no casts. */
// biome-ignore lint/suspicious/noExplicitAny: a line can have any fields
export type LoggedLine = Record<string, any>;

/** A log whose lines a test reads. */
export interface CapturedLog {
  readonly log: Log;
  readonly lines: LoggedLine[];
  /** Returns the lines with this message. */
  named(name: LogLineName): LoggedLine[];
}

/** Creates a log that keeps its lines in memory, by default of all levels. */
export function captureLog(levels: LogLevels | "trace" | "info" | "warn" = "trace"): CapturedLog {
  const lines: LoggedLine[] = [];
  const output = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return {
    log: createLog(levels, { output, format: "json" }),
    lines,
    named: (name) => lines.filter(({ msg }) => msg === name),
  };
}
