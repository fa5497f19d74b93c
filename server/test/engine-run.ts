import { eventData, type NewEvent, type RunEvent } from "@beckon/contract";
import { createLeanFetch } from "../src/base/egress/index.ts";
import {
  type Delta,
  defaultTimeouts,
  executeRun,
  type Journal,
  type MeteredCall,
  type Outcome,
  openAICompatibleModel,
  type ReportedCall,
  type ReportingEvent,
  type RunRequest,
  type Tool,
  unknownPrice,
} from "../src/engine/index.ts";

/**
 * An in-memory journal that verifies the engine's contract: one write at a time, only known events,
 * and no write after the end of the run.
 */
export interface MemoryJournal extends Journal {
  /** All entries, including the initial ones. */
  readonly entries: NewEvent[];
  /** The durable writes, in order; the last one can be the end of the run. */
  readonly writes: {
    readonly entries: readonly NewEvent[];
    readonly calls: readonly ReportedCall[];
    readonly unlessCancelled: boolean;
    readonly end: boolean;
  }[];
  readonly outcome: Outcome | undefined;
}

export interface MemoryJournalOptions {
  readonly initial?: readonly NewEvent[];
  /** Called before each write; the write fails if it throws. Default: no write fails. */
  readonly gate?: (
    entries: readonly NewEvent[],
    kind: { readonly unlessCancelled: boolean; readonly end: boolean },
  ) => void;
}

export function memoryJournal({ initial = [], gate }: MemoryJournalOptions = {}): MemoryJournal {
  const entries = [...initial];
  const writes: MemoryJournal["writes"] = [];
  let outcome: Outcome | undefined;
  let writing = false;

  const write = async (
    more: readonly NewEvent[],
    calls: readonly ReportedCall[],
    kind: { unlessCancelled: boolean; end: boolean },
  ) => {
    if (writing) throw new Error("concurrent writes");
    if (outcome !== undefined) throw new Error("a write after the end");
    writing = true;
    await new Promise((resolve) => setImmediate(resolve));
    writing = false;
    gate?.(more, kind);
    for (const entry of more) eventData[entry.type].parse(entry.data);
    for (const { entry } of calls) {
      const type = more[entry]?.type ?? (kind.end && entry === more.length ? "end" : undefined);
      if (!["run.step", "run.step_lost", "end"].includes(type ?? ""))
        throw new Error(`a call is reported by ${type ?? "no event"}`);
    }
    entries.push(...more);
    writes.push({ entries: more, calls, ...kind });
  };

  return {
    events: initial.map(asEvent),
    entries,
    writes,
    get outcome() {
      return outcome;
    },
    append: (more, options) =>
      write(more, options?.calls ?? [], {
        unlessCancelled: options?.unlessCancelled ?? false,
        end: false,
      }),
    async end(ending, more, calls) {
      await write(more, calls, { unlessCancelled: false, end: true });
      outcome = ending;
    },
  };
}

function asEvent(entry: NewEvent, index: number): RunEvent {
  return {
    ...entry,
    id: `evt_${index + 1}`,
    run_id: "run_1",
    seq: index + 1,
    version: 1,
    time: "2026-01-01T00:00:00Z",
  };
}

/** The HTTP client of production with short timeouts. Tests of timeouts create their own. */
export const productionFetch = createLeanFetch({
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
});

export interface Played {
  readonly journal: MemoryJournal;
  readonly outcome: Outcome | undefined;
  /**
   * The first event that `executeRun` returned for the release of the run. Undefined if it returned
   * none, as when the run has ended.
   */
  readonly released: ReportingEvent | undefined;
  readonly deltas: readonly Delta[];
}

/**
 * Executes one run against the model server at `url`. Retries wait for milliseconds instead of
 * seconds.
 */
export async function play(
  url: string,
  options: Partial<RunRequest> & {
    readonly journal?: MemoryJournal;
    readonly apiKey?: string;
  } = {},
): Promise<Played> {
  const { apiKey = "key-of-the-test", journal = memoryJournal(), ...rest } = options;
  const deltas: Delta[] = [];
  const [released] = await executeRun({
    runId: "run_1",
    input: "hello",
    instructions: "",
    modelName: "scripted/model",
    model: openAICompatibleModel({
      name: "scripted",
      baseUrl: url,
      apiKey,
      modelId: "model",
      transport: productionFetch,
    }),
    priceOf: unknownPrice,
    settings: { stream: "never" },
    maxSteps: 10,
    tools: [],
    resumed: false,
    signal: new AbortController().signal,
    hasSubscriber: () => false,
    onDelta: (delta) => deltas.push(delta),
    timeouts: { ...defaultTimeouts, stepMs: 5_000 },
    retry: { maxAttempts: 3, baseWaitMs: 2, maxWaitMs: 5 },
    ...rest,
    journal,
  });
  return { journal, outcome: journal.outcome, released, deltas };
}

/** Returns a tool that calls `run`. By default it returns its arguments. */
export function tool(
  name: string,
  options: Partial<Omit<Tool, "name" | "execute">> & { readonly run?: Tool["execute"] } = {},
): Tool {
  const { run = async (args) => args, ...rest } = options;
  return {
    name,
    description: `the tool ${name}`,
    parameters: { type: "object" },
    safeToRepeat: true,
    ...rest,
    execute: run,
  };
}

/** Returns all metered calls of the run, in the order in which they were written. */
export function callsIn(journal: MemoryJournal): MeteredCall[] {
  return journal.writes.flatMap(({ calls }) => calls.map(({ call }) => call));
}

type DataOf<T extends NewEvent["type"]> = Extract<NewEvent, { type: T }>["data"];

/** Returns the data of all entries of one type. */
export function dataOf<T extends NewEvent["type"]>(journal: MemoryJournal, type: T): DataOf<T>[] {
  return journal.entries
    .filter((entry) => entry.type === type)
    .map(({ data }) => data) as DataOf<T>[];
}
