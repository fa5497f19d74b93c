import type { StreamEvent } from "@beckon/contract";

/** The frame of each event, so that all readers of an event share the same bytes. */
const frames = new WeakMap<
  StreamEvent,
  { readonly id: string | undefined; readonly bytes: Buffer }
>();

/**
 * Returns an event as a frame of a stream. An event cannot break out of its frame: only CR and LF
 * end a line, the JSON text contains neither, and types and ids are checked.
 */
export function frameOf(event: StreamEvent, id: string | undefined): Buffer {
  const known = frames.get(event);
  if (known?.id === id && known !== undefined) return known.bytes;
  for (const name of id === undefined ? [event.type] : [event.type, id]) {
    if (!/^[\w.:-]+$/.test(name)) throw new Error(`${JSON.stringify(name)} cannot be in a frame`);
  }
  const bytes = Buffer.from(
    `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  frames.set(event, { id, bytes });
  return bytes;
}
