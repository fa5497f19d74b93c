import type { StreamEvent } from "@beckon/contract";

/** Many readers may be told of one event: what waits for them in their sockets is the same bytes. */
const made = new WeakMap<
  StreamEvent,
  { readonly id: string | undefined; readonly bytes: Buffer }
>();

/**
 * An event as a frame of a stream. Whatever an event says stays inside of its frame: lines end at CR and LF only, JSON has neither, and the
 * names of events and ids are ours.
 */
export function frameOf(event: StreamEvent, id: string | undefined): Buffer {
  const known = made.get(event);
  if (known?.id === id && known !== undefined) return known.bytes;
  for (const name of id === undefined ? [event.type] : [event.type, id]) {
    if (!/^[\w.:-]+$/.test(name))
      throw new Error(`${JSON.stringify(name)} cannot stand in a frame`);
  }
  const bytes = Buffer.from(
    `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  made.set(event, { id, bytes });
  return bytes;
}
