import type { NewEvent } from "@beckon/contract";
import { openCalls, usageOf } from "./history.ts";
import type { Journal } from "./journal.ts";
import { closeCalls } from "./lost-run.ts";
import type { Ending } from "./stop-conditions.ts";

/** The loop's own view of the journal: what is durable, and what has happened and is still owed to it. */
export interface RunRecorder {
  /** Durable entries, in order. */
  readonly entries: readonly NewEvent[];
  /** Resolves once the entries are durable. Calls made while a write is in flight share the next one. */
  append(entries: readonly NewEvent[]): Promise<void>;
  /** Keeps entries for the write that ends the run. */
  defer(entries: readonly NewEvent[]): void;
  /** Ends the run with what is owed; calls still open are closed as unknown when the run was stopped. */
  end(ending: Ending): Promise<void>;
}

/**
 * Writes are made one after the other. After one was refused none is tried again: what had happened by then (answers and
 * results, not intents) is owed, so that a cancelled run still shows what it paid for.
 */
export function createRunRecorder(journal: Journal): RunRecorder {
  const entries: NewEvent[] = [...journal.events];
  const owed: NewEvent[] = [];
  const refuse = (group: readonly NewEvent[], thrown: unknown): never => {
    owed.push(...group.filter((entry) => entry.type !== "run.tool_call"));
    throw thrown;
  };
  const write = async (group: readonly NewEvent[]) => {
    const intent = group.some((entry) => entry.type === "run.tool_call");
    await journal.append(group, intent ? { intent } : {}).catch((thrown) => refuse(group, thrown));
    entries.push(...group);
  };

  let previous: Promise<void> = Promise.resolve();
  let gathering: { readonly group: NewEvent[]; readonly written: Promise<void> } | undefined;

  return {
    entries,
    defer: (more) => void owed.push(...more),
    append(more) {
      if (gathering !== undefined) {
        gathering.group.push(...more);
        return gathering.written;
      }
      const group = [...more];
      const begin = () => {
        gathering = undefined;
        return write(group);
      };
      const written = previous.then(begin, (thrown) => refuse(group, thrown));
      gathering = { group, written };
      previous = written;
      return written;
    },
    end(ending) {
      const last = [...owed, ...closeCalls(openCalls([...entries, ...owed]), stopped)];
      // No price is known yet: null says so, zero would be a lie.
      return journal.end(
        { ...ending, usage: usageOf([...entries, ...last]), cost_micros: null },
        last,
      );
    },
  };
}

const stopped =
  "The run was stopped before the tool answered. The call may or may not have taken effect.";
