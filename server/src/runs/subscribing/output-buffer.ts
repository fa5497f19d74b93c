import type { OutputEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";

/** Characters and entries that wait for one reader at most. */
const maxCharacters = 64 * 1024;
const maxEntries = 256;

/**
 * What one reader of a stream has still to be told of what a model says. It never waits for its reader: when more has come than it keeps, the
 * rest of the attempt is left out, and its end says so. The journal lacks nothing of it.
 */
export interface OutputBuffer {
  /**
   * Counts what waits; set by whoever tells this reader. Without one only the reader's own limits
   * apply.
   */
  hold: ByteHold | undefined;
  /** `seq`: the last event of the run's journal when it was said. */
  push(event: OutputEvent, seq: number): void;
  /** What comes next for a reader who has had all events up to `after`. */
  take(after: number): OutputEvent | undefined;
  /** Called when there is something to take. */
  wake: () => void;
}

/** Bytes of memory for each character: two, and its UTF-8 on the way to the reader. */
const heldPerCharacter = 4;

function charactersOf(event: OutputEvent): number {
  return event.type === "run.output.delta" ? event.data.text.length : 0;
}

/** Makes the output buffer of one stream subscriber. */
export function createOutputBuffer(): OutputBuffer {
  let waiting: { readonly event: OutputEvent; readonly seq: number }[] = [];
  let characters = 0;
  /** Whose start this reader has not had is not for it: a text that begins in its middle. */
  let begun = false;
  let complete = true;

  const give = (freed: number) => {
    characters -= freed;
    output.hold?.shrink(heldPerCharacter * freed);
  };

  const output: OutputBuffer = {
    hold: undefined,
    push(event, seq) {
      if (event.type === "run.output.start") {
        begun = true;
        complete = true;
      }
      if (!begun || (!complete && event.type === "run.output.delta")) return;
      const size = charactersOf(event);
      const fits = characters + size <= maxCharacters && waiting.length < maxEntries;
      if (fits && output.hold?.grow(heldPerCharacter * size) !== false) characters += size;
      else {
        waiting = [];
        give(characters);
        complete = false;
        if (event.type === "run.output.delta") return;
      }
      if (event.type === "run.output.end" && !complete)
        waiting.push({ event: { ...event, data: { ...event.data, complete } }, seq });
      else waiting.push({ event, seq });
      output.wake();
    },
    take(after) {
      for (let next = waiting[0]; next !== undefined && next.seq <= after; next = waiting[0]) {
        waiting.shift();
        give(charactersOf(next.event));
        // What the journal has gone past is no news.
        if (next.seq === after) return next.event;
      }
      return undefined;
    },
    wake: () => {},
  };
  return output;
}
