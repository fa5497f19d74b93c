import type { OutputEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";

/** Limits of one buffer. */
const maxCharacters = 64 * 1024;
const maxEntries = 256;

/**
 * Buffer of bounded size for the model output that one stream subscriber has not received yet. When
 * it overflows, the subscriber does not get the rest of the output of this model call, and the
 * event that ends the output has `complete: false`. The run's journal still gets the whole output.
 */
export interface OutputBuffer {
  /**
   * Reserves memory for the buffered output in the memory budget of the workspace. Set when the
   * buffer is added to a run. Until then only the limits of the buffer itself apply.
   */
  hold: ByteHold | undefined;
  /**
   * Adds an event.
   * @param seq sequence number of the last event in the run's journal when the output was produced.
   */
  push(event: OutputEvent, seq: number): void;
  /**
   * Removes and returns the next event for a subscriber that has received the journal up to the
   * event `after`; undefined if there is no such event.
   */
  take(after: number): OutputEvent | undefined;
  /** The buffer calls this function when there is an event to take. The subscriber sets it. */
  wake: () => void;
}

/**
 * Bytes of memory for each character: 2 for UTF-16, and about 2 for its UTF-8 encoding while it is
 * sent.
 */
const bytesPerCharacter = 4;

function charactersOf(event: OutputEvent): number {
  return event.type === "run.output.delta" ? event.data.text.length : 0;
}

/** Creates the output buffer of one stream subscriber. */
export function createOutputBuffer(): OutputBuffer {
  let entries: { readonly event: OutputEvent; readonly seq: number }[] = [];
  let characters = 0;
  /**
   * Whether the start of a model call's output was added. A subscriber that joins during a model
   * call gets none of the output of that call.
   */
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
        // Output that was produced before the subscriber's position is skipped, since the journal
        // events that the subscriber already has contain it.
        if (next.seq === after) return next.event;
      }
      return undefined;
    },
    wake: () => {},
  };
  return output;
}
