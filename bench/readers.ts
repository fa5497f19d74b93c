import type { IncomingMessage } from "node:http";
import { openStream } from "./open-stream.ts";

/**
 * Reads one stream in a separate process, with several readers, each on its own connection. Sends
 * "open" to the parent process when all readers are subscribed. Sends the arrival times of the
 * events when all readers are done.
 */

/** The stream and the number of readers. The process gets them as its argument, in JSON. */
interface Readers {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  readonly count: number;
}

/**
 * Arrival times by event id, one per reader: Unix time in milliseconds, with microsecond precision.
 */
export type Arrivals = Readonly<Record<string, readonly number[]>>;

const { port, path, key, count } = JSON.parse(process.argv[2] ?? "{}") as Readers;
const ends = new Set(["run.finished", "run.failed", "run.cancelled"]);
const arrivals: Record<string, number[]> = {};

/**
 * Records the arrival of complete events until the final event of a run, or until the server closes
 * the stream, for example because this reader is too slow. It does little per event, because a
 * thousand readers share this process.
 */
function read(incoming: IncomingMessage): Promise<void> {
  let rest = "";
  return new Promise((resolve) => {
    incoming.once("error", () => resolve()).once("close", () => resolve());
    incoming.on("data", (bytes: Buffer) => {
      const at = performance.timeOrigin + performance.now();
      const text = rest + bytes.toString("latin1");
      const lastEnd = text.lastIndexOf("\n\n");
      const whole = lastEnd === -1 ? 0 : lastEnd + 2;
      rest = text.slice(whole);
      for (const [, type, id = ""] of text
        .slice(0, whole)
        .matchAll(/^event: (.*)\ndata: \{"id":"(evt_\w+)"/gm)) {
        arrivals[id] ??= [];
        arrivals[id].push(at);
        if (ends.has(type ?? "")) resolve();
      }
    });
  });
}

const readings: Promise<void>[] = [];
while (readings.length < count) {
  const some = Math.min(50, count - readings.length);
  for (const incoming of await Promise.all(
    Array.from({ length: some }, () => openStream(port, path, key)),
  ))
    readings.push(read(incoming));
}
process.send?.("open");
await Promise.all(readings);
process.send?.(arrivals, () => process.exit());
