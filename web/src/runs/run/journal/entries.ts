import { isFinalEvent, type JournalEvent, type Run, type WatchedEvent } from "@beckon/client";

/** The journal of a run, without texts, arguments and results. */
export interface Journal {
  readonly events: readonly JournalEvent[];
  /** True once all pages are read. After that, entries of the stream are added to `events`. */
  readonly isComplete: boolean;
}

/** Returns the `seq` of the last entry; 0 if there is none. */
export function lastSeq({ events }: Pick<Journal, "events">): number {
  return events.at(-1)?.seq ?? 0;
}

/** Returns whether the journal has the final event of the run. */
export function hasEnd({ events }: Pick<Journal, "events">): boolean {
  const last = events.at(-1);
  return last !== undefined && isFinalEvent(last);
}

/** Returns whether an event of a run's stream is a journal entry. */
function isEntry(event: WatchedEvent): event is JournalEvent {
  return "seq" in event;
}

/**
 * Returns the journal entries among the events that `journal` lacks: those with a higher `seq` than
 * its last entry, in ascending order. Empty if `journal` has the final event of the run.
 */
export function newEntries(journal: Journal, events: readonly WatchedEvent[]): JournalEvent[] {
  let last = hasEnd(journal) ? Number.POSITIVE_INFINITY : lastSeq(journal);
  return events.filter(isEntry).filter(({ seq }) => {
    if (seq <= last) return false;
    last = seq;
    return true;
  });
}

/** Returns the journal with these entries added, without their texts. */
export function append(journal: Journal, entries: readonly JournalEvent[]): Journal {
  if (entries.length === 0) return journal;
  return { ...journal, events: [...journal.events, ...entries.map(summarize)] };
}

const contents = new Set(["arguments", "result", "output"]);
const partContents = new Set(["text", "arguments", "provider_metadata"]);
const encoder = new TextEncoder();

/**
 * Returns the entry as the API lists it with `view=summary`: without texts, arguments, results and
 * the provider's metadata, but with the size of the output and of each part in bytes. An entry that
 * already has this form keeps it. `summaryCases` of the contract's tests ties the rule to the
 * server's.
 */
export function summarize(event: JournalEvent): JournalEvent {
  const { output, parts } = event.data;
  return {
    ...event,
    data: {
      ...without(event.data, contents),
      ...(typeof output === "string" ? { output_bytes: bytesOf(output) } : {}),
      ...(Array.isArray(parts) ? { parts: parts.map(summarizePart) } : {}),
    },
  } as JournalEvent;
}

function summarizePart(part: Readonly<Record<string, unknown>>): object {
  const content = part.text ?? part.arguments;
  return {
    ...without(part, partContents),
    bytes: content === undefined ? (part.bytes ?? 0) : bytesOf(String(content)),
  };
}

const bytesOf = (text: string) => encoder.encode(text).length;

function without(object: Readonly<Record<string, unknown>>, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));
}

/**
 * Returns the token usage of the model calls in the journal, for a run that has not ended. It is
 * estimated if the usage of at least one call is.
 */
export function usageSoFar({ events }: Journal): Run["usage"] {
  const total: Run["usage"] = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
  for (const { type, data } of events) {
    // The final event is skipped, because it has the sum of all calls.
    if (type !== "run.step" && type !== "run.step_lost") continue;
    const usage = data.usage as Partial<Run["usage"]> | undefined;
    total.input_tokens += usage?.input_tokens ?? 0;
    total.output_tokens += usage?.output_tokens ?? 0;
    total.cached_input_tokens += usage?.cached_input_tokens ?? 0;
    if (usage?.estimated === true) total.estimated = true;
  }
  return total;
}
