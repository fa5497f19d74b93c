import { type Logger, pino } from "pino";

export type Log = Logger;

/**
 * Creates a logger that writes structured lines to standard output. Callers log only values that
 * cannot contain a secret: route templates, ids, codes, durations. They never log URLs, headers,
 * bodies or whole error objects of a provider.
 */
export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
