import type { OutputEvent } from "@beckon/contract";

/** Characters and entries that wait for one reader at most. */
const maxCharacters = 64 * 1024;
const maxEntries = 256;

/**
 * What one reader of a stream has still to be told of what a model says. It never waits for its reader: when more has come than it keeps, the
 * rest of the attempt is left out, and its end says so. The journal lacks nothing of it.
 */
export interface Hearer {
  /** `seq`: the last event of the run's journal when it was said. */
  hear(event: OutputEvent, seq: number): void;
  /** What comes next for a reader who has had all events up to `after`. */
  take(after: number): OutputEvent | undefined;
  /** Called when there is something to take. */
  wake: () => void;
}

/** Makes the output buffer of one stream subscriber. */
export function createHearer(): Hearer {
  let waiting: { readonly event: OutputEvent; readonly seq: number }[] = [];
  let characters = 0;
  /** Whose start this reader has not had is not for it: a text that begins in its middle. */
  let begun = false;
  let complete = true;

  const hearer: Hearer = {
    hear(event, seq) {
      if (event.type === "run.output.start") {
        begun = true;
        complete = true;
      }
      if (!begun || (!complete && event.type === "run.output.delta")) return;
      if (event.type === "run.output.delta") characters += event.data.text.length;
      if (characters > maxCharacters || waiting.length >= maxEntries) {
        waiting = [];
        characters = 0;
        complete = false;
        if (event.type === "run.output.delta") return;
      }
      if (event.type === "run.output.end" && !complete) waiting.push({ event: { ...event, data: { ...event.data, complete } }, seq });
      else waiting.push({ event, seq });
      hearer.wake();
    },
    take(after) {
      for (let next = waiting[0]; next !== undefined && next.seq <= after; next = waiting[0]) {
        waiting.shift();
        if (next.event.type === "run.output.delta") characters -= next.event.data.text.length;
        // What the journal has gone past is no news.
        if (next.seq === after) return next.event;
      }
      return undefined;
    },
    wake: () => {},
  };
  return hearer;
}
