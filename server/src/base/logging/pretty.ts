import { styleText } from "node:util";
import type { LogOutput } from "./output.ts";

/**
 * Returns an output that converts JSON lines to lines for people:
 * `19:22:39.120 info  http  request method=GET route=/docs status=200`. Does not use a package such
 * as pino-pretty, which with its dependencies would add 13 packages to production.
 */
export function prettyOutput(output: LogOutput): LogOutput {
  return {
    write: (line) => output.write(prettyLine(line)),
    ...(output.flush === undefined ? {} : { flush: () => output.flush?.() }),
  };
}

const colors: Readonly<Record<string, "red" | "yellow" | "gray">> = {
  fatal: "red",
  error: "red",
  warn: "yellow",
  debug: "gray",
  trace: "gray",
};

/** Converts one JSON line. The time is UTC, as in the JSON line. */
function prettyLine(line: string): string {
  const { level, time, area, msg, stack, ...fields } = JSON.parse(line);
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${prettyValue(value)}`);
  const color = colors[level];
  // `styleText` adds no color if standard output is not a terminal or NO_COLOR is set.
  const shownLevel =
    color === undefined
      ? level.padEnd(5)
      : styleText(color, level.padEnd(5), { stream: process.stdout });
  const head = [time.slice(11, 23), shownLevel, area.padEnd(10), msg, ...shown].join(" ");
  return stack === undefined ? `${head}\n` : `${head}\n${stack}\n`;
}

function prettyValue(value: unknown): string {
  return typeof value === "string" && /^[\w.:/*-]+$/.test(value) ? value : JSON.stringify(value);
}
