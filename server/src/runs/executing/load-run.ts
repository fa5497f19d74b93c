import type { RunEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { type Database, retryWhileLost } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { heldBytesOf, memoryIsUsedUp, RunStopped, recordedWait } from "../../engine/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import {
  readInput,
  readJournal,
  readJournalBytes,
  readWasReported,
  readWasWaiting,
} from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "../subscribing/index.ts";
import { type ReservingRun, type ReturnPorts, returnFirstCall } from "./return-first-call.ts";

/**
 * Estimated memory of a run with a model call and a short response, not counting its input, in
 * bytes.
 */
const runBytes = 64 * 1024;
/**
 * Bytes of memory for each byte of an input, and for each byte of a journal while it is read. Both
 * were measured: see docs/decisions/0014-a-budget-of-bytes.md.
 */
const heldPerInputByte = 2;
const heldPerJournalByte = 8;

/** A run that is to be loaded. `OwnedRun` documents the fields. */
interface UnloadedRun extends ReservingRun {
  input: string | undefined;
  readonly inputBytes: number;
  readonly resumed: boolean;
}

/** What the engine needs of the database to execute a run. */
export interface Loaded {
  readonly input: string;
  /** The entries of the journal if the run is resumed, else none. */
  readonly events: readonly RunEvent[];
  /** See `RunRequest.wasWaiting`. */
  readonly wasWaiting: boolean;
}

/** The services that loading a run needs. */
interface LoadPorts extends ReturnPorts {
  readonly database: Database;
  readonly reservations: Pick<Reservations, "returnFirstCall" | "recordWait">;
}

/**
 * Reserves memory for the run, then reads its input and its journal. Waits while the memory budget
 * is used up.
 * @param options.configBytes memory that the run uses for its configuration, in bytes.
 * @throws ApiError `too_large` if the run needs more memory than the runs of one workspace can use;
 *   `deadline_exceeded` if its deadline passes while it waits for memory; the reason of the run's
 *   signal if the run is stopped otherwise.
 */
export async function loadRun(
  ports: LoadPorts,
  {
    run,
    live,
    memory,
    configBytes,
  }: {
    readonly run: UnloadedRun;
    readonly live: LiveRun;
    readonly memory: ByteHold;
    readonly configBytes: number;
  },
): Promise<Loaded> {
  const { database, reservations } = ports;
  const read = <T>(query: (database: Database, run: RunRef) => Promise<T>): Promise<T> =>
    retryWhileLost(() => query(database, run), live.signal);
  const journalBytes = run.resumed ? await read(readJournalBytes) : 0;
  const countedBytes = heldPerInputByte * run.inputBytes + configBytes;
  const bytes = runBytes + countedBytes + heldPerJournalByte * journalBytes;
  if (bytes > memory.maxBytes) throw tooLarge(memory);
  const [wasWaiting, wasReported] = run.resumed
    ? await Promise.all([read(readWasWaiting), read(readWasReported)])
    : [false, true];
  const waiting = memory.enter(bytes, live.signal);
  if (waiting !== undefined) {
    // A run that waits for memory must not occupy any, so its input is dropped here and read again
    // later.
    run.input = undefined;
    const returned = returnFirstCall(ports, run, live.signal);
    // Until a call that was lost with an earlier process is reported, a record would hide it. If
    // that process left a record, the engine removes it.
    const record = wasReported
      ? (isWaiting: boolean) =>
          // The return replaces the reservation, and so the record.
          returned.then(() => reservations.recordWait(run, isWaiting, live.signal))
      : undefined;
    const startedAt = elapsed();
    try {
      await recordedWait(waiting, live.signal, record);
    } catch (thrown) {
      const isDeadline = thrown instanceof RunStopped && thrown.reason === "deadline";
      throw isDeadline ? waitedForMemory(memory, elapsed() - startedAt) : thrown;
    } finally {
      // Waits until the reservation is returned, even if the run is stopped. After the run's
      // release, the return would be rejected, and the run would keep the amount in the queue.
      await returned;
    }
  }
  // The input and the configuration stay in memory until the run ends. The other reserved bytes are
  // for the journal and the model calls: later calls of `grow` use them.
  memory.grow(countedBytes);
  const input = run.input ?? (await read(readInput));
  if (!run.resumed) return { input, events: [], wasWaiting: false };
  const events = await read(readJournal);
  if (!memory.grow(heldBytesOf(events, 1))) throw tooLarge(memory);
  return { input, events, wasWaiting };
}

function tooLarge({ maxBytes }: ByteHold): ApiError {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return new ApiError(
    "too_large",
    `The run's input and journal need more memory than the runs of one workspace can use in one server process (${mib} MiB). Start a run with less input, or ask the operator to raise BECKON_MEMORY_BUDGET_MIB.`,
  );
}

function waitedForMemory({ maxBytes }: ByteHold, waitedMs: number): ApiError {
  const seconds = Math.round(waitedMs / 1_000);
  return new ApiError(
    "deadline_exceeded",
    `The run waited ${seconds} s for memory until its time limit: ${memoryIsUsedUp(maxBytes)}`,
  );
}
