import type { JournalEvent, Run } from "@beckon/client";
import { toolOutcomeOf, unansweredCall } from "../../tool-outcome.ts";

/** The kinds of rows of the timeline. */
export type RowKind =
  | "held"
  | "queued"
  | "model"
  | "tool"
  | "rejected"
  | "lost"
  | "resumed"
  | "end";

/** A row of the timeline. Times are Unix times in ms. */
export interface TimelineRow {
  /** `seq` of its first journal entry; `now` for the model call that has none yet. */
  readonly key: string;
  readonly kind: RowKind;
  /** 2 for a tool call, which is nested under the model call that requested it; otherwise 1. */
  readonly level: 1 | 2;
  readonly name: string;
  /** `seq` of each journal entry that the row shows, in order. */
  readonly seqs: readonly number[];
  readonly start: number;
  /** Undefined while the step has not ended. */
  readonly end: number | undefined;
  /** False if the journal does not show how long the step lasted. */
  readonly isMeasured: boolean;
  readonly isFailed: boolean;
  /** A few words about the outcome, for example "2 retries"; undefined for none. */
  readonly note: string | undefined;
}

/** The rows of a run in the order of its journal, and the time that they cover. */
export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly start: number;
  /** Undefined while the run lasts. */
  readonly end: number | undefined;
}

type DraftRow = { -readonly [Field in keyof TimelineRow]: TimelineRow[Field] };
type Data = Readonly<Record<string, unknown>>;

const endNames: Readonly<Record<string, string>> = {
  step_limit: "Failed: step limit reached",
  deadline_exceeded: "Failed: not finished in time",
  interrupted: "Failed: interrupted",
};

/**
 * Returns the timeline of a run.
 * @param events its journal from the start, with or without texts. It can be incomplete.
 */
export function layOut(
  run: Pick<Run, "created_at" | "started_at" | "finished_at">,
  events: readonly JournalEvent[],
): Timeline {
  const start = Date.parse(run.created_at);
  const rows: DraftRow[] = [];
  /** Tool calls without a result so far, with their `call_id`. */
  const open: { readonly id: unknown; readonly row: DraftRow }[] = [];
  /** Time of the latest journal entry so far. */
  let lastTime = start;
  let steps = 0;
  let end: number | undefined;
  const answered = new Set(
    events.flatMap(({ type, data }) => (type === "run.tool_result" ? [data.call_id] : [])),
  );

  const add = (seq: number, row: Partial<DraftRow> & Pick<DraftRow, "kind" | "name">): DraftRow => {
    const added = {
      key: String(seq),
      level: 1 as const,
      seqs: [seq],
      start: lastTime,
      end: lastTime,
      isMeasured: true,
      isFailed: false,
      note: undefined,
      ...row,
    };
    rows.push(added);
    return added;
  };

  for (const [index, { seq, type, time, data }] of events.entries()) {
    const at = Math.max(Date.parse(time), start);
    const from = (duration: unknown) => Math.max(start, at - (Number(duration) || 0));
    switch (type) {
      case "run.waiting":
        add(seq, { kind: "held", name: "Held", end: undefined });
        break;
      case "run.queued":
        closeOpenRows(rows, at);
        add(seq, {
          kind: "queued",
          name: "Queued",
          start: rows.length === 0 ? start : at,
          end: undefined,
        });
        break;
      case "run.started": {
        const queued = rows.find(({ kind }) => kind === "queued");
        if (queued) Object.assign(queued, { end: at, seqs: [...queued.seqs, seq] });
        break;
      }
      case "run.resumed": {
        // A run that a stopping process released is queued until another process resumes it. Its
        // time in the queue has a row of its own, so the row of `run.resumed` is a point in time.
        const queued = rows.find(({ kind, end }) => kind === "queued" && end === undefined);
        if (queued) queued.end = at;
        add(seq, {
          kind: "resumed",
          name: `Resumed, attempt ${data.attempt}`,
          start: queued ? at : lastTime,
          end: at,
        });
        break;
      }
      case "run.step": {
        steps += 1;
        const row = { start: from(data.duration_ms), end: at, note: noteOfStep(data) };
        add(seq, { kind: "model", name: `Model call ${numberOf(data.step, steps)}`, ...row });
        break;
      }
      case "run.step_lost": {
        const last = rows.at(-1);
        const isReleased = events[index + 1]?.type === "run.queued";
        add(seq, {
          kind: "lost",
          name: `Model call ${numberOf(data.step, steps + 1)}`,
          // If the process was lost, the call was lost at an unknown time before `run.resumed`. So
          // its row covers the same time as the row of `run.resumed`. A process that was stopped
          // writes this event when it aborts the call, so the row ends at the time of the event.
          ...(data.reason === "process_lost" && last?.kind === "resumed" && !isReleased
            ? { start: last.start, end: last.end }
            : { end: at }),
          isMeasured: false,
          isFailed: true,
          note: data.reason === "process_lost" ? "lost" : "stopped",
        });
        break;
      }
      case "run.tool_call":
        open.push({
          id: data.call_id,
          row: add(seq, {
            kind: "tool",
            level: 2,
            name: nameOfTool(data),
            start: at,
            end: undefined,
          }),
        });
        break;
      case "run.tool_result": {
        const [known] = open.splice(positionOf(open, data, answered), 1);
        const row = known?.row ?? add(seq, { kind: "tool", level: 2, name: nameOfTool(data) });
        if (known) row.seqs = [...row.seqs, seq];
        endCall(row, data, at, from(data.duration_ms));
        break;
      }
      case "run.failed":
      case "run.cancelled": {
        const last = rows.at(-1);
        const note = type === "run.failed" ? noteOfModelError(data) : undefined;
        if (note === undefined) add(seq, endRow(type, data, at));
        // A model call whose answer cannot be used, for example because it was truncated, ends the
        // run directly after its step. No further call was made.
        else if (last !== undefined && events[index - 1]?.type === "run.step")
          Object.assign(last, { seqs: [...last.seqs, seq], isFailed: true, note });
        else
          add(seq, {
            kind: "model",
            name: `Model call ${steps + 1}`,
            isFailed: true,
            note,
            end: at,
          });
        end = at;
        break;
      }
      case "run.finished": {
        const last = rows.at(-1);
        if (last) last.seqs = [...last.seqs, seq];
        end = at;
        break;
      }
    }
    lastTime = Math.max(lastTime, at);
  }

  if (end !== undefined) closeOpenRows(rows, end);
  else if (run.finished_at !== null) end = Date.parse(run.finished_at);
  else if (isModelCalled(run, events, rows)) rows.push(currentCall(steps + 1, lastTime));
  return { rows, start, end };
}

/** Returns the row that shows this journal entry; undefined if there is none. */
export function rowOf(rows: readonly TimelineRow[], seq: number): TimelineRow | undefined {
  return rows.find(({ seqs }) => seqs.includes(seq));
}

/**
 * Returns the index of the next failed row after `index`. After the last failed row, the search
 * continues at the first row. Undefined if no row has failed.
 */
export function nextFailed(rows: readonly TimelineRow[], index: number): number | undefined {
  for (let distance = 1; distance <= rows.length; distance += 1) {
    const candidate = (index + distance) % rows.length;
    if (rows[candidate]?.isFailed) return candidate;
  }
  return undefined;
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function nameOfTool({ tool }: Data): string {
  return typeof tool === "string" ? tool : "Tool call";
}

function noteOfStep({ retries }: Data): string | undefined {
  if (typeof retries !== "number" || retries === 0) return undefined;
  return retries === 1 ? "1 retry" : `${retries} retries`;
}

/**
 * Returns the position in `open` of the call to which a result belongs; the length of `open` if
 * there is none. Earlier versions of Beckon stored the `call_id` of a large result, or of a call
 * with large arguments, in an artifact. A result without `call_id` is assigned to the oldest call
 * whose `call_id` no other result has.
 */
function positionOf(
  open: readonly { readonly id: unknown }[],
  { call_id: wanted }: Data,
  answered: ReadonlySet<unknown>,
): number {
  const position =
    wanted === undefined
      ? open.findIndex(({ id }) => id === undefined || !answered.has(id))
      : open.findIndex(({ id }) => id === wanted);
  if (position !== -1) return position;
  const unnamed = open.findIndex(({ id }) => id === undefined);
  return unnamed === -1 ? open.length : unnamed;
}

function endCall(row: DraftRow, { outcome, duration_ms }: Data, at: number, start: number): void {
  // Earlier versions of Beckon stored the outcome of a large result in an artifact. The row shows
  // such a result as ok.
  const word = outcome === undefined ? "ok" : String(outcome);
  row.end = at;
  row.isFailed = word !== "ok";
  row.note = word === "ok" ? undefined : toolOutcomeOf(word).word.toLowerCase();
  // A rejected call was never made, so its row is a point in time.
  if (word === "refused") row.kind = "rejected";
  else if (word === "unknown") {
    row.kind = "lost";
    row.isMeasured = false;
  } else if (duration_ms !== undefined) row.start = start;
}

/** Returns the note of the model call that failed the run; undefined if no model call did. */
function noteOfModelError(data: Data): string | undefined {
  const code = codeOf(data);
  if (code === "model_timeout") return "timed out";
  return code === "model_error" ? "failed" : undefined;
}

function endRow(
  type: "run.failed" | "run.cancelled",
  data: Data,
  at: number,
): Partial<DraftRow> & Pick<DraftRow, "kind" | "name"> {
  if (type === "run.cancelled") return { kind: "end", name: "Cancelled", start: at, end: at };
  const name = endNames[codeOf(data) ?? ""] ?? "Failed";
  return { kind: "end", name, start: at, end: at, isFailed: true };
}

function codeOf({ error }: Data): string | undefined {
  return (error as { readonly code?: string } | undefined)?.code;
}

/**
 * Ends all open rows. Tool calls without a result are shown as lost, because it is not known
 * whether they took effect.
 */
function closeOpenRows(rows: readonly DraftRow[], end: number): void {
  for (const row of rows) {
    if (row.end !== undefined) continue;
    row.end = end;
    if (row.kind !== "tool") continue;
    row.kind = "lost";
    row.isMeasured = false;
    row.isFailed = true;
    row.note = unansweredCall.word.toLowerCase();
  }
}

/** Returns whether a model call is in flight: the run executes and does not wait for a tool. */
function isModelCalled(
  run: Pick<Run, "started_at">,
  events: readonly JournalEvent[],
  rows: readonly DraftRow[],
): boolean {
  if (rows.some(({ end }) => end === undefined)) return false;
  return run.started_at !== null || events.some(({ type }) => type === "run.started");
}

function currentCall(step: number, start: number): TimelineRow {
  return {
    key: "now",
    kind: "model",
    level: 1,
    name: `Model call ${step}`,
    seqs: [],
    start,
    end: undefined,
    isMeasured: true,
    isFailed: false,
    note: undefined,
  };
}
