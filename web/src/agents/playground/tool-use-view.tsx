import { ChevronRight, Wrench } from "lucide-react";
import { useMemo, useState } from "react";
import { JsonTree, parseJson } from "../../json/index.ts";
import {
  rejectionReason,
  type ToolUse,
  toolOutcomeOf,
  unansweredCall,
  unmadeCall,
} from "../../runs/index.ts";
import { Badge, ByteSize, Duration, Link, LongText, Spinner } from "../../ui/index.ts";

interface ToolUseViewProps {
  readonly use: ToolUse;
  /** Path of the run's page, which shows results that are too large for this view. */
  readonly runHref: string;
  readonly isOpen?: boolean;
  /** True if the run has ended, so that no result follows. */
  readonly isEnded: boolean;
}

/** A tool call in one line. A click shows its arguments and its result below. */
export function ToolUseView({ use, runHref, isOpen = false, isEnded }: ToolUseViewProps) {
  // What is closed is not rendered: a conversation can have hundreds of calls with large results.
  const [wasOpened, setWasOpened] = useState(isOpen);
  const outcome = outcomeOf(use, isEnded);
  const isOk = use.outcome === "ok";
  return (
    <details
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open) setWasOpened(true);
      }}
      className="group min-w-0 rounded-control border border-rule bg-sheet"
    >
      <summary className="flex min-h-9 list-none items-center gap-2 px-2 py-1 hover:bg-hover focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="text-ink-3 transition-transform group-open:rotate-90"
        />
        <span className="inline-flex text-ink-3">
          <Wrench aria-hidden />
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-dense" title={use.tool}>
          <span className="sr-only">Tool call: </span>
          {use.tool}
        </span>
        {outcome === undefined ? (
          <Spinner label="The tool is called" />
        ) : isOk ? null : (
          <Badge tone={use.outcome === "error" || use.outcome === "refused" ? "flare" : "brass"}>
            {outcome.word}
          </Badge>
        )}
        {use.durationMs === undefined || !(isOk || use.outcome === "error") ? null : (
          <span className="text-ink-3">
            <Duration ms={use.durationMs} />
          </span>
        )}
      </summary>
      {wasOpened ? <Exchange use={use} runHref={runHref} meaning={outcome?.meaning} /> : null}
    </details>
  );
}

interface ExchangeProps {
  readonly use: ToolUse;
  readonly runHref: string;
  readonly meaning: string | undefined;
}

/** The arguments of a call and its result. */
function Exchange({ use, runHref, meaning }: ExchangeProps) {
  const { arguments: text } = use;
  const given = useMemo(() => text && (parseJson(text) ?? text), [text]);
  const reason = use.outcome === "refused" ? rejectionReason(use.result) : undefined;
  const about = [reason, meaning].filter((part) => part !== undefined).join(" ");
  return (
    <div className="flex min-w-0 flex-col gap-3 border-t border-rule p-3">
      {about === "" ? null : (
        <p dir="auto" className="text-dense break-words text-ink-2">
          {about}
        </p>
      )}
      {given === undefined ? null : <Part title="Arguments" value={given} />}
      {use.large !== undefined ? (
        <p className="text-dense text-ink-2">
          The result has <ByteSize bytes={use.large.bytes} />. Read it on{" "}
          <Link href={runHref}>the page of the run</Link>.
        </p>
      ) : use.outcome === undefined ? null : (
        <Part title={use.outcome === "ok" ? "Result" : "What the model got"} value={use.result} />
      )}
    </div>
  );
}

function outcomeOf({ outcome, isCalled }: ToolUse, isEnded: boolean) {
  if (outcome !== undefined) return toolOutcomeOf(outcome);
  if (!isEnded) return undefined;
  return isCalled ? unansweredCall : unmadeCall;
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="text-label font-semibold text-ink-2">{title}</span>
      {typeof value === "string" ? (
        <LongText text={value === "" ? "(empty)" : value} variant="code" />
      ) : (
        <JsonTree label={title} source={{ value: value ?? null }} tools="none" depth={3} />
      )}
    </div>
  );
}
