import type { JournalEvent, Run, WatchedEvent } from "@beckon/client";

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
  /** True while the output arrives; false once the journal entry of the step has arrived. */
  readonly isLive: boolean;
}

/** A run as the conversation shows it, computed from the events of its stream. */
export interface Transcript {
  readonly status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  readonly steps: readonly Step[];
  /**
   * The run's output; undefined until the run has succeeded, and if it was too large for the event.
   */
  readonly output?: string | undefined;
  readonly error?: Run["error"];
  readonly usage?: Run["usage"] | undefined;
  /** Millionths of a dollar; null if the price is unknown, undefined before the end of the run. */
  readonly costMicros?: number | null | undefined;
  readonly startedAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}

/** The transcript of a run before its first event. */
export const emptyTranscript: Transcript = { status: "queued", steps: [] };

/** Returns whether the run has ended. */
export function isEnded({ finishedAt }: Transcript): boolean {
  return finishedAt !== undefined;
}

/**
 * Returns the milliseconds from the start of the run to its end; null if one of these times is not
 * known.
 */
export function durationOf({ startedAt, finishedAt }: Transcript): number | null {
  if (startedAt === undefined || finishedAt === undefined) return null;
  return Date.parse(finishedAt) - Date.parse(startedAt);
}

/** Returns the transcript after an event of the run's stream. Events must be added in order. */
export function addEvent(transcript: Transcript, event: WatchedEvent): Transcript {
  if (isEnded(transcript)) return transcript;
  if ("seq" in event) return addEntry(transcript, event);
  const { step } = event.data;
  switch (event.type) {
    case "run.output.start":
      return putStep(transcript, { step, text: "", reasoning: "", tools: [], isLive: true });
    case "run.output.delta": {
      const known = transcript.steps.find((each) => each.step === step && each.isLive);
      // Without `run.output.start`, the beginning of the output is missing, so the rest is not
      // shown.
      if (known === undefined) return transcript;
      const { kind, text } = event.data;
      return putStep(transcript, { ...known, [kind]: known[kind] + text });
    }
    default:
      return transcript;
  }
}

function addEntry(transcript: Transcript, { type, time, data, id }: JournalEvent): Transcript {
  switch (type) {
    case "run.started":
    case "run.resumed":
      return {
        ...transcript,
        status: "running",
        startedAt: transcript.startedAt ?? time,
        steps: transcript.steps.filter(({ isLive }) => !isLive),
      };
    case "run.step":
      return putStep(transcript, finishedStep(transcript, data));
    case "run.step_lost":
      return { ...transcript, steps: transcript.steps.filter(({ isLive }) => !isLive) };
    case "run.tool_call":
      return putCall(transcript, data, id);
    case "run.tool_result":
      return putResult(transcript, data);
    case "run.finished":
      return { ...ended(transcript, "succeeded", time, data), output: textOf(data.output) };
    case "run.failed":
    case "run.cancelled": {
      const status = type === "run.failed" ? "failed" : "cancelled";
      return { ...ended(transcript, status, time, data), error: data.error as Run["error"] };
    }
    default:
      return transcript;
  }
}

type Data = JournalEvent["data"];

function ended(
  transcript: Transcript,
  status: Transcript["status"],
  time: string,
  data: Data,
): Transcript {
  return {
    ...transcript,
    status,
    finishedAt: time,
    // Steps that were still live have no journal entry, so their output is no part of the answer.
    steps: transcript.steps.filter(({ isLive }) => !isLive),
    usage: data.usage as Run["usage"] | undefined,
    costMicros: data.cost_micros as number | null | undefined,
  };
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly call_id?: string;
  readonly tool?: string;
  readonly arguments?: string;
}

function finishedStep(transcript: Transcript, data: Data): Step {
  const parts = data.parts as readonly Part[] | undefined;
  const step = Number(data.step) || lastStep(transcript) + 1;
  // The event has no parts if the answer was too large for it. Then the output that was streamed
  // is kept.
  if (parts === undefined) {
    const live = transcript.steps.find((each) => each.isLive);
    return { step, text: "", reasoning: "", tools: [], ...live, isLive: false };
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
  return { step, text: textsOf("text"), reasoning: textsOf("reasoning"), tools, isLive: false };
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

const lastStep = ({ steps }: Transcript) => steps.at(-1)?.step ?? 0;
const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
