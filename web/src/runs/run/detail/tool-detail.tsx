import type { JournalEvent } from "@beckon/client";
import { CopyButton, Duration, Fact, Facts, Part } from "../../../ui/index.ts";
import type { AnswerPart } from "../../answer-part.ts";
import { rejectionReason, toolOutcomeOf, unansweredCall } from "../../tool-outcome.ts";
import type { TextView } from "../run-search.ts";
import { SmartText, SmartValue } from "../text-views.tsx";
import { EntryData } from "./entry-data.tsx";

interface ToolDetailProps {
  readonly runId: string;
  /** The journal entries of the call and of its result. Each is undefined if it does not exist. */
  readonly call: JournalEvent | undefined;
  readonly result: JournalEvent | undefined;
  /**
   * The entry of the model call whose answer contains the tool call; undefined if it is not loaded.
   */
  readonly askedBy: JournalEvent | undefined;
  readonly hasEnded: boolean;
  readonly view: TextView;
}

/** A tool's arguments and result, or why there are none. */
export function ToolDetail({ runId, call, result, askedBy, hasEnded, view }: ToolDetailProps) {
  const isLarge = typeof result?.data.artifact_id === "string";
  // Earlier versions of Beckon stored the outcome of a large result in the artifact. It is then
  // shown when the result is loaded.
  const isOutcomeLater = isLarge && result.data.outcome === undefined;
  return (
    <>
      {result === undefined ? (
        hasEnded ? (
          <Outcome word={unansweredCall.word} meaning={unansweredCall.meaning} isFailed />
        ) : (
          <p className="text-ink-2">The tool has not answered yet.</p>
        )
      ) : isOutcomeLater ? null : isLarge ? (
        <ResultOutcome data={result.data} />
      ) : (
        <EntryData runId={runId} seq={result.seq}>
          {(data) => <ResultOutcome data={data} />}
        </EntryData>
      )}
      {call !== undefined ? (
        <EntryData runId={runId} seq={call.seq}>
          {(data) => <Arguments data={data} view={view} />}
        </EntryData>
      ) : askedBy !== undefined && result !== undefined ? (
        <EntryData runId={runId} seq={askedBy.seq}>
          {({ parts }) => (
            <RejectedArguments parts={parts} callId={result.data.call_id} view={view} />
          )}
        </EntryData>
      ) : null}
      {result === undefined ? null : (
        <EntryData runId={runId} seq={result.seq}>
          {(data) => (
            <>
              {isOutcomeLater ? <ResultOutcome data={data} /> : null}
              <Result data={data} view={view} />
            </>
          )}
        </EntryData>
      )}
    </>
  );
}

type Data = JournalEvent["data"];

function ResultOutcome({ data }: { readonly data: Data }) {
  const outcome = String(data.outcome);
  const { word, meaning } = toolOutcomeOf(outcome);
  const reason = outcome === "refused" ? rejectionReason(data.result) : undefined;
  return (
    <Outcome
      word={word}
      meaning={reason === undefined ? meaning : `${reason} ${meaning}`}
      isFailed={outcome !== "ok"}
      durationMs={outcome === "ok" || outcome === "error" ? Number(data.duration_ms) : undefined}
    />
  );
}

interface OutcomeProps {
  readonly word: string;
  readonly meaning: string | undefined;
  readonly isFailed: boolean;
  readonly durationMs?: number | undefined;
}

function Outcome({ word, meaning, isFailed, durationMs }: OutcomeProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Facts>
        <Fact label="Outcome">
          <span className={isFailed ? "font-semibold text-flare" : "text-moss"}>{word}</span>
        </Fact>
        {durationMs === undefined ? null : (
          <Fact label="Duration">
            <Duration ms={durationMs} />
          </Fact>
        )}
      </Facts>
      {meaning === undefined ? null : (
        <p dir="auto" className="break-words text-ink-2">
          {meaning}
        </p>
      )}
    </div>
  );
}

interface PartProps {
  readonly data: Data;
  readonly view: TextView;
}

function Arguments({ data: { arguments: given, idempotency_key: key }, view }: PartProps) {
  return (
    <>
      {typeof key === "string" ? (
        <Facts>
          <Fact label="Idempotency key">
            <span className="truncate font-mono text-dense">{key}</span>
            <CopyButton text={key} what="idempotency key" />
          </Fact>
        </Facts>
      ) : null}
      <Part
        isRegion={false}
        title="Arguments"
        aside={<CopyButton text={textOf(given)} what="arguments" />}
      >
        <SmartValue label="Arguments" value={given} view={view} />
      </Part>
    </>
  );
}

interface RejectedArgumentsProps {
  /** The parts of the model's answer, unchecked. */
  readonly parts: unknown;
  readonly callId: unknown;
  readonly view: TextView;
}

/**
 * The arguments of a call that was rejected. They are shown as the model wrote them, which may not
 * be valid JSON.
 */
function RejectedArguments({ parts, callId, view }: RejectedArgumentsProps) {
  const all = Array.isArray(parts) ? (parts as readonly AnswerPart[]) : [];
  const text = all.find((part) => part.call_id === callId)?.arguments;
  if (text === undefined) return null;
  return (
    <Part isRegion={false} title="Arguments" aside={<CopyButton text={text} what="arguments" />}>
      <SmartText label="Arguments" text={text} view={view} />
    </Part>
  );
}

function Result({ data: { outcome, result }, view }: PartProps) {
  return (
    <Part
      isRegion={false}
      title={outcome === "ok" ? "Result" : "What the model got"}
      aside={<CopyButton text={textOf(result)} what="result" />}
    >
      <SmartValue label="Result" value={result} view={view} />
    </Part>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
