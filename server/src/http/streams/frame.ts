import type { StreamEvent } from "@beckon/contract";

/**
 * Returns an event as a frame of a stream. An event cannot break out of its frame: only CR and LF
 * end a line, the JSON text contains neither, and types and ids are checked.
 */
export function frameOf(event: StreamEvent, id: string | undefined): string {
  checkName(event.type);
  return `${id === undefined ? "" : idLine(id)}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/**
 * Returns a frame without an event: readers only store its id, from which they resume (HTML
 * standard, 9.2.6). The id is also in a comment for our client, whose parser reports no id without
 * an event.
 */
export function cursorFrame(id: string): string {
  return `: cursor ${id}\n${idLine(id)}\n`;
}

function idLine(id: string): string {
  checkName(id);
  return `id: ${id}\n`;
}

function checkName(name: string): void {
  if (!/^[\w.:-]+$/.test(name)) throw new Error(`${JSON.stringify(name)} cannot be in a frame`);
}
