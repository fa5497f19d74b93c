import type { NewEvent } from "@beckon/contract";
import { openCalls, usageOf } from "./history.ts";
import type { Journal } from "./journal.ts";
import { closeCalls } from "./lost-run.ts";
import type { Ending } from "./stop-conditions.ts";

/**
 * The loop's view of the journal: durable entries, and entries deferred to the write that ends the
 * run.
 */
export interface RunRecorder {
  /** Durable entries, in order. */
  readonly entries: readonly NewEvent[];
  /**
   * Resolves when the entries are durable. Appends during a write are combined into the next one.
   */
  append(entries: readonly NewEvent[]): Promise<void>;
  /** Keeps entries for the write that ends the run. */
  defer(entries: readonly NewEvent[]): void;
  /** Ends the run and writes the deferred entries. Open tool calls get the outcome `unknown`. */
  end(ending: Ending): Promise<void>;
}

/**
 * Writes sequentially. After a rejected write no further append is tried: its answers and results
 * (not intents) are deferred to the end of the run, so that a cancelled run still shows what was
 * paid for.
 */
export function createRunRecorder(journal: Journal): RunRecorder {
  const entries: NewEvent[] = [...journal.events];
  const deferred: NewEvent[] = [];
  const deferAndThrow = (group: readonly NewEvent[], thrown: unknown): never => {
    deferred.push(...group.filter((entry) => entry.type !== "run.tool_call"));
    throw thrown;
  };
  const write = async (group: readonly NewEvent[]) => {
    const intent = group.some((entry) => entry.type === "run.tool_call");
    await journal
      .append(group, intent ? { intent } : {})
      .catch((thrown) => deferAndThrow(group, thrown));
    entries.push(...group);
  };

  let previous: Promise<void> = Promise.resolve();
  let nextWrite: { readonly group: NewEvent[]; readonly written: Promise<void> } | undefined;

  return {
    entries,
    defer: (more) => void deferred.push(...more),
    append(more) {
      if (nextWrite !== undefined) {
        nextWrite.group.push(...more);
        return nextWrite.written;
      }
      const group = [...more];
      const begin = () => {
        nextWrite = undefined;
        return write(group);
      };
      const written = previous.then(begin, (thrown) => deferAndThrow(group, thrown));
      nextWrite = { group, written };
      previous = written;
      return written;
    },
    end(ending) {
      const last = [
        ...deferred,
        ...closeCalls(openCalls([...entries, ...deferred]), unknownOutcome),
      ];
      // Null means that no price is known; 0 would mean free.
      return journal.end(
        { ...ending, usage: usageOf([...entries, ...last]), cost_micros: null },
        last,
      );
    },
  };
}

const unknownOutcome =
  "The run was stopped before the tool answered. The call may or may not have taken effect.";
