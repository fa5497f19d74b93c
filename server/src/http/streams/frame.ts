import type { StreamEvent } from "@beckon/contract";

/**
 * Returns an event as a frame of a stream. An event cannot break out of its frame: only CR and LF
 * end a line, the JSON text contains neither, and types and ids are checked.
 */
export function frameOf(event: StreamEvent, id: string | undefined): string {
  for (const name of id === undefined ? [event.type] : [event.type, id]) {
    if (!/^[\w.:-]+$/.test(name)) throw new Error(`${JSON.stringify(name)} cannot be in a frame`);
  }
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
