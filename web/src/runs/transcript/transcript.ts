import type { JournalEvent, WatchedEvent } from "@beckon/client";
import type { AnswerPart } from "../answer-part.ts";
import { applyOutput, type ModelOutput } from "../model-output.ts";
import { isEnded, patchRun, type RunState } from "../patch-run.ts";

/** Reference to the artifact that has the whole data of an event above 64 KiB. */
export interface Large {
  readonly artifactId: string;
  readonly bytes: number;
}

/** A call of a tool by the model. */
export interface ToolUse {
  readonly callId: string;
  readonly tool: string;
  /** The text that the model wrote, usually JSON; undefined if it was too large for the events. */
  readonly arguments?: string | undefined;
  /**
   * True if the event of the call has no call id. Earlier versions of Beckon stored it with large
   * arguments in an artifact.
   */
  readonly isUnnamed?: boolean | undefined;
  /** True once the call was made. It stays undefined for a call that was rejected. */
  readonly isCalled?: boolean | undefined;
  /**
   * How the call ended: `ok`, `error`, `refused` or `unknown`; undefined while it has no result.
   */
  readonly outcome?: string | undefined;
  readonly result?: unknown;
  readonly durationMs?: number | undefined;
  /** Reference to the whole result, if it is too large for the event. */
  readonly large?: Large | undefined;
}

/** The output of one model call, and the tool calls in it. */
export interface Step {
  readonly step: number;
  readonly text: string;
  readonly reasoning: string;
  readonly tools: readonly ToolUse[];
}

/** A run as the conversation shows it, computed from the events of its stream. */
export interface Transcript extends RunState {
  /** The steps whose journal entries have arrived. */
  readonly steps: readonly Step[];
  /** The output of the current model call so far. */
  readonly live?: ModelOutput | undefined;
}

/** The transcript of a run before its first event. */
export const emptyTranscript: Transcript = {
  status: "queued",
  attempt: 1,
  output: null,
  error: null,
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: null,
  started_at: null,
  finished_at: null,
  steps: [],
};

/** Returns all steps, the last one with the output of the current model call. */
export function allSteps({ steps, live }: Transcript): readonly Step[] {
  return live === undefined ? steps : [...steps, { ...live, tools: [] }];
}

/**
 * Returns whether one of the steps shows the run's output. Usually that is the last step. If it has
 * no text, the output is the text of an earlier one.
 */
export function isOutputInSteps(transcript: Transcript): boolean {
  const texts = allSteps(transcript).map(({ text }) => text);
  const isBlank = (text: string) => text.trim() === "";
  if (!isBlank(texts.at(-1) ?? "")) return true;
  return texts.some((text) => !isBlank(text) && text === transcript.output);
}

/**
 * Returns the milliseconds from the start of the run to its end; null if one of these times is not
 * known.
 */
export function durationOf({ started_at: start, finished_at: end }: Transcript): number | null {
  return start === null || end === null ? null : Date.parse(end) - Date.parse(start);
}

/** Returns the transcript after an event of the run's stream. Events must be added in order. */
export function addEvent(before: Transcript, event: WatchedEvent): Transcript {
  if (isEnded(before)) return before;
  const transcript = { ...before, live: applyOutput(before.live, event) };
  if (!("seq" in event)) return transcript;
  const { type, data, id } = event;
  switch (type) {
    case "run.step":
      return putStep(transcript, finishedStep(before, data));
    case "run.tool_call":
      return putCall(transcript, data, id);
    case "run.tool_result":
      return putResult(transcript, data);
    default:
      return patchRun(transcript, event);
  }
}

type Data = JournalEvent["data"];

function finishedStep({ steps, live }: Transcript, data: Data): Step {
  const parts = data.parts as readonly AnswerPart[] | undefined;
  const step = Number(data.step) || (live?.step ?? (steps.at(-1)?.step ?? 0) + 1);
  // The event has no parts if the answer was too large for it. Then the output that was streamed
  // is kept.
  if (parts === undefined) {
    const { text = "", reasoning = "" } = live ?? {};
    return { step, text, reasoning, tools: [] };
  }
  const textsOf = (type: string) =>
    parts
      .filter((part) => part.type === type)
      .map(({ text = "" }) => text)
      .join("");
  const tools = parts
    .filter((part) => part.type === "tool_call")
    .map((part) => ({
      callId: part.call_id ?? "",
      tool: part.tool ?? "tool",
      arguments: part.arguments ?? "",
    }));
  return { step, text: textsOf("text"), reasoning: textsOf("reasoning"), tools };
}

/**
 * Notes that a call was made. The text that the model wrote, in the event `run.step`, is kept. The
 * event `run.tool_call` has parsed arguments, which are shown only if the model's answer was too
 * large for the event `run.step`.
 */
function putCall(transcript: Transcript, data: Data, id: string): Transcript {
  const callId = textOf(data.call_id) ?? id;
  const uses = transcript.steps.flatMap(({ tools }) => tools);
  const asked = uses.find((use) => use.callId === callId);
  return putTool(transcript, {
    callId,
    tool: textOf(data.tool) ?? "tool",
    arguments: asked?.arguments ?? JSON.stringify(data.arguments),
    isUnnamed: data.call_id === undefined || undefined,
    isCalled: true,
  });
}

/**
 * Adds a result to its call. If the call was rejected and the model's answer was too large for its
 * event, the result is the first event with the call's id.
 *
 * Earlier versions of Beckon stored the call id of a large result in the artifact. Then the
 * artifact is assigned to the first call without a result. This can be wrong, as concurrent calls
 * end in any order. If that call's own result follows, the artifact moves to the next call without
 * a result.
 */
function putResult(transcript: Transcript, data: Data): Transcript {
  const { artifact_id: artifactId, bytes } = data;
  const callId = textOf(data.call_id);
  const uses = transcript.steps.flatMap(({ tools }) => tools);
  const open = uses.filter(({ outcome }) => outcome === undefined);
  const use =
    uses.find((each) => each.callId === callId) ??
    open.find(({ isUnnamed }) => isUnnamed || callId === undefined) ??
    (callId === undefined ? undefined : { callId, tool: textOf(data.tool) ?? "tool" });
  if (use === undefined) return transcript;
  const { outcome, large: assigned } = use;
  const [next] = open;
  if (assigned !== undefined && assigned.artifactId !== artifactId && next !== undefined) {
    const moved = putTool(transcript, { ...next, outcome, large: assigned });
    return putResult(putTool(moved, { ...use, outcome: undefined, large: undefined }), data);
  }
  const large =
    typeof artifactId === "string" ? { artifactId, bytes: Number(bytes) || 0 } : undefined;
  return putTool(transcript, {
    ...use,
    outcome: textOf(data.outcome) ?? "ok",
    result: data.result,
    durationMs: typeof data.duration_ms === "number" ? data.duration_ms : undefined,
    large,
  });
}

function putTool(transcript: Transcript, use: ToolUse): Transcript {
  const owner =
    transcript.steps.find(({ tools }) => tools.some(({ callId }) => callId === use.callId)) ??
    transcript.steps.at(-1);
  if (owner === undefined) return transcript;
  const index = owner.tools.findIndex(({ callId }) => callId === use.callId);
  const at = index === -1 ? owner.tools.length : index;
  return putStep(transcript, { ...owner, tools: owner.tools.toSpliced(at, 1, use) });
}

function putStep(transcript: Transcript, step: Step): Transcript {
  const index = transcript.steps.findIndex((each) => each.step === step.step);
  const at = index === -1 ? transcript.steps.length : index;
  return { ...transcript, steps: transcript.steps.toSpliced(at, 1, step) };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
