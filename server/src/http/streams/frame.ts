import type { StreamEvent } from "@beckon/contract";

/** Frames by event: many readers of one event share its bytes. */
const frames = new WeakMap<
  StreamEvent,
  { readonly id: string | undefined; readonly bytes: Buffer }
>();

/**
 * Returns an event as a frame of a stream. An event cannot break out of its frame: JSON has no CR
 * or LF, which end a line, and types and ids are checked.
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
