import { type Logger, pino } from "pino";

export type Log = Logger;

/**
 * Structured lines on standard output. What may be logged is an allow-list at the call: route templates, ids, codes,
 * durations, never URLs, headers, bodies or whole error objects of a provider, since any of those may hold a secret.
 */
export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
