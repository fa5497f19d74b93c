import type { OutputEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";

/** Limits of one buffer. */
const maxCharacters = 64 * 1024;
const maxEntries = 256;

/**
 * Bounded output buffer of one stream subscriber. On overflow the rest of the attempt is dropped
 * and its end event has `complete: false`. The journal still gets the whole output.
 */
export interface OutputBuffer {
  /**
   * Accounts for the buffered bytes in the memory budget. Set when the buffer is added to a run;
   * until then only the limits of the buffer apply.
   */
  hold: ByteHold | undefined;
  /** Adds an event. `seq`: the last event of the run's journal when the output was produced. */
  push(event: OutputEvent, seq: number): void;
  /** Removes and returns the next event for a subscriber that has journal events up to `after`. */
  take(after: number): OutputEvent | undefined;
  /** Called when there is an event to take. */
  wake: () => void;
}

/** Memory per character: 2 bytes as UTF-16, and about 2 more for its UTF-8 while it is sent. */
const bytesPerCharacter = 4;

function charactersOf(event: OutputEvent): number {
  return event.type === "run.output.delta" ? event.data.text.length : 0;
}

/** Creates the output buffer of one stream subscriber. */
export function createOutputBuffer(): OutputBuffer {
  let entries: { readonly event: OutputEvent; readonly seq: number }[] = [];
  let characters = 0;
  /** A subscriber that joins in the middle of an attempt gets nothing of it. */
  let hasStarted = false;
  let complete = true;

  const release = (freed: number) => {
    characters -= freed;
    output.hold?.shrink(bytesPerCharacter * freed);
  };

  const output: OutputBuffer = {
    hold: undefined,
    push(event, seq) {
      if (event.type === "run.output.start") {
        hasStarted = true;
        complete = true;
      }
      if (!hasStarted || (!complete && event.type === "run.output.delta")) return;
      const size = charactersOf(event);
      const fits = characters + size <= maxCharacters && entries.length < maxEntries;
      if (fits && output.hold?.grow(bytesPerCharacter * size) !== false) characters += size;
      else {
        entries = [];
        release(characters);
        complete = false;
        if (event.type === "run.output.delta") return;
      }
      if (event.type === "run.output.end" && !complete)
        entries.push({ event: { ...event, data: { ...event.data, complete } }, seq });
      else entries.push({ event, seq });
      output.wake();
    },
    take(after) {
      for (let next = entries[0]; next !== undefined && next.seq <= after; next = entries[0]) {
        entries.shift();
        release(charactersOf(next.event));
        // Output before the subscriber's position is skipped: the journal events contain it.
        if (next.seq === after) return next.event;
      }
      return undefined;
    },
    wake: () => {},
  };
  return output;
}
