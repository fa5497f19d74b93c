import type { JournalEvent } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../../data/index.ts";
import { Badge, CopyButton, Fact, Facts, LongText, Part, Tokens } from "../../../ui/index.ts";
import type { AnswerPart } from "../../answer-part.ts";
import { limitAmount, limitWords } from "../../limit-words.ts";
import { failedAttemptText, type ModelOutput } from "../../model-output.ts";
import { costOfStep } from "../cost.ts";
import { CostFact } from "../cost-fact.tsx";
import { waitingForQuery } from "../journal/queries.ts";
import type { Silence } from "../journal/use-silence.ts";
import type { TextView } from "../run-search.ts";
import { SmartText } from "../text-views.tsx";

const finishWords: Readonly<Record<string, string>> = {
  stop: "complete",
  length: "cut off: output limit reached",
  content_filter: "stopped by the provider's filter",
  tool_calls: "asked for tools",
};

interface ModelDetailProps {
  readonly data: JournalEvent["data"];
  readonly view: TextView;
}

/** The details of a model call: the answer and its cost. */
export function ModelDetail({ data, view }: ModelDetailProps) {
  const parts = Array.isArray(data.parts) ? (data.parts as readonly AnswerPart[]) : [];
  const usage = (data.usage ?? {}) as {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cached_input_tokens?: number;
    readonly cache_write_tokens?: number;
    readonly reasoning_tokens?: number;
    readonly estimated?: boolean;
  };
  const finish = String(data.finish_reason);
  return (
    <>
      <Facts>
        <Fact label="Model">
          <span className="truncate font-mono text-dense" title={String(data.model)}>
            {String(data.model)}
          </span>
        </Fact>
        <Fact label={usage.estimated ? "Tokens, estimated" : "Tokens"}>
          <Tokens
            input={usage.input_tokens}
            output={usage.output_tokens}
            estimated={usage.estimated}
          />
        </Fact>
        {usage.cached_input_tokens ? (
          <Fact label="From the provider's cache">
            <Tokens input={usage.cached_input_tokens} output={null} />
          </Fact>
        ) : null}
        {usage.cache_write_tokens ? (
          <Fact label="Into the provider's cache">
            <Tokens input={usage.cache_write_tokens} output={null} />
          </Fact>
        ) : null}
        {usage.reasoning_tokens ? (
          <Fact label="For reasoning">
            <Tokens input={null} output={usage.reasoning_tokens} />
          </Fact>
        ) : null}
        <CostFact cost={costOfStep(data)} estimated={usage.estimated} />
        <Fact label="Answer">{finishWords[finish] ?? finish}</Fact>
        {data.retries ? <Fact label="Failed attempts before">{String(data.retries)}</Fact> : null}
      </Facts>
      {parts.length === 0 ? <p className="text-ink-3">The model answered nothing.</p> : null}
      {parts.map((part, index) => (
        <AnswerPartView key={part.call_id ?? `${part.type} ${index}`} part={part} view={view} />
      ))}
    </>
  );
}

function AnswerPartView({ part, view }: { readonly part: AnswerPart; readonly view: TextView }) {
  const text = part.text ?? part.arguments ?? "";
  if (part.type === "tool_call")
    return (
      <Part
        isRegion={false}
        title={`Calls ${part.tool}`}
        aside={<CopyButton text={text} what={`arguments of ${part.tool}`} />}
      >
        <SmartText label={`Arguments of ${part.tool}`} text={text} view={view} />
      </Part>
    );
  const isReasoning = part.type === "reasoning";
  return (
    <Part
      isRegion={false}
      title={isReasoning ? "Reasoning" : "Text"}
      aside={<CopyButton text={text} what={isReasoning ? "reasoning" : "text"} />}
    >
      {isReasoning ? <LongText text={text} /> : <SmartText label="Text" text={text} view={view} />}
    </Part>
  );
}

const firstWords = "Waiting for the model's first words.";

const silences: Readonly<Record<Silence, string>> = {
  late: "The model was called before this page was opened, so what it writes is not shown word by word. The answer appears when the step is done.",
  elsewhere:
    "The call waits for a model that is down, or another process executes this run. The answer appears when the step is done.",
};

interface QuietCallProps {
  readonly runId: string;
  readonly silence: Silence;
}

/** Says why nothing of the current model call arrives. */
function QuietCall({ runId, silence }: QuietCallProps) {
  const { data: limit } = useQuery(waitingForQuery(useWorkspace(), runId));
  if (limit === undefined) return firstWords;
  return limit === null
    ? silences[silence]
    : `The call waits, because other runs have reserved the rest of a limit. ${limitWords(limit)}, ${limitAmount(limit, limit.reserved)} reserved.`;
}

interface CurrentCallProps {
  readonly runId: string;
  readonly output: ModelOutput | undefined;
  readonly silence: Silence | undefined;
}

/** The output of the current model call so far. */
export function CurrentCall({ runId, output, silence }: CurrentCallProps) {
  const failure = output && failedAttemptText(output);
  if (failure !== undefined) return <p className="text-ink-2">{failure}</p>;
  if (output === undefined || (output.text === "" && output.reasoning === ""))
    return (
      <p className="text-ink-2">
        {silence === undefined ? firstWords : <QuietCall runId={runId} silence={silence} />}
      </p>
    );
  return (
    <>
      {output.attempt > 1 ? <Badge tone="brass">{`Attempt ${output.attempt}`}</Badge> : null}
      {output.reasoning === "" ? null : (
        <Part isRegion={false} title="Reasoning">
          <p dir="auto" className="break-words whitespace-pre-wrap text-ink-2">
            {output.reasoning}
          </p>
        </Part>
      )}
      {output.text === "" ? null : (
        <Part isRegion={false} title="Text">
          {/* The text is not rendered as Markdown: parsing all of it again after each word would
              cost too much. */}
          <p dir="auto" className="break-words whitespace-pre-wrap">
            {output.text}
          </p>
        </Part>
      )}
    </>
  );
}
