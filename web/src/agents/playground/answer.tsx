import { useDeferredValue } from "react";
import { Markdown } from "../../markdown/index.ts";
import {
  allSteps,
  failedAttemptText,
  isEnded,
  isOutputInSteps,
  type Step,
  type Transcript,
} from "../../runs/index.ts";
import { Link, LongText, lazyPart } from "../../ui/index.ts";

// Many agents have no tools, and the tree of a call's arguments is large.
const ToolUseView = lazyPart(
  async () => (await import("./tool-use-view.tsx")).ToolUseView,
  () => <div className="min-h-9 rounded-control border border-rule bg-sheet" />,
);

interface AnswerProps {
  readonly transcript: Transcript;
  readonly runHref: string;
}

/** The agent's answer: its texts and tool calls, in order. The last text is its output. */
export function Answer({ transcript, runHref }: AnswerProps) {
  const { status, output, live } = transcript;
  const steps = allSteps(transcript);
  const hasEnded = isEnded(transcript);
  const failure = live && failedAttemptText(live);
  if (status !== "succeeded" && steps.length === 0) return null;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {steps.map((step) => (
        <StepView key={step.step} step={step} runHref={runHref} isEnded={hasEnded} />
      ))}
      {failure === undefined ? null : <p className="text-ink-2">{failure}</p>}
      {status !== "succeeded" || isOutputInSteps(transcript) ? null : output === null ? (
        <p className="text-ink-2">
          The answer is too large to be shown here. Read it on{" "}
          <Link href={runHref}>the page of the run</Link>.
        </p>
      ) : output.trim() === "" ? (
        <p className="text-ink-3">The agent answered with an empty text.</p>
      ) : (
        <Markdown text={output} />
      )}
    </div>
  );
}

interface StepViewProps {
  readonly step: Step;
  readonly runHref: string;
  readonly isEnded: boolean;
}

function StepView({ step, runHref, isEnded: hasEnded }: StepViewProps) {
  const { text, reasoning, tools } = step;
  return (
    <>
      {reasoning === "" ? null : (
        <details className="min-w-0 text-ink-2">
          <summary className="w-fit rounded-bar text-dense text-ink-3">Reasoning</summary>
          <div className="border-l-2 border-rule pt-1 pl-3 text-dense">
            <LongText text={reasoning} />
          </div>
        </details>
      )}
      {text === "" ? null : <Written text={text} />}
      {tools.map((use) => (
        <ToolUseView key={use.callId} use={use} runHref={runHref} isEnded={hasEnded} />
      ))}
    </>
  );
}

/**
 * A text that can grow in every frame. Rendering is deferred, because parsing the Markdown may take
 * longer than a frame.
 */
function Written({ text }: { readonly text: string }) {
  return <Markdown text={useDeferredValue(text)} />;
}
