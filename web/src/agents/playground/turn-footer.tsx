import { durationOf, type Followed, isEnded } from "../../runs/index.ts";
import {
  Badge,
  CopyButton,
  Duration,
  Id,
  Link,
  Money,
  StatusMark,
  Tokens,
} from "../../ui/index.ts";
import type { Turn } from "./use-turns.ts";

interface TurnFooterProps {
  readonly turn: Turn;
  readonly runHref: string;
  readonly followed: Followed;
  /** Path of the comparison with the earlier run; undefined if there is no earlier run. */
  readonly compareHref: string | undefined;
}

/** The facts of a run: state, version, tokens, cost and duration, with the link to its page. */
export function TurnFooter({ turn, runHref, followed, compareHref }: TurnFooterProps) {
  const { transcript, run } = followed;
  const { usage, cost_micros: costMicros, output } = transcript;
  const { runId, isDraft = run?.source === "draft" } = turn;
  // The agent may have been saved elsewhere since this page has read it. So the run's version takes
  // precedence over the version that this page knew.
  const version = run?.agent_version ?? turn.version;
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 text-dense text-ink-3">
      <span role="status">
        <StatusMark status={transcript.status} />
      </span>
      <Link href={runHref} variant="quiet">
        <span className="sr-only">Run </span>
        <Id value={runId} />
      </Link>
      {version === undefined ? null : isDraft ? (
        <Badge tone="brass">Draft</Badge>
      ) : (
        <Badge>v{version}</Badge>
      )}
      {isEnded(transcript) ? (
        <>
          <span title="Tokens">
            <Tokens
              input={usage.input_tokens}
              output={usage.output_tokens}
              estimated={usage.estimated}
            />
          </span>
          <span className="inline-flex items-baseline gap-1">
            Cost <Money micros={costMicros} estimated={usage.estimated} />
          </span>
          <span className="inline-flex items-center gap-1">
            <Duration ms={durationOf(transcript)} />
            {output === null || output === "" ? null : <CopyButton text={output} what="answer" />}
          </span>
          {compareHref === undefined ? null : (
            <Link href={compareHref} keepsScroll>
              Compare with the earlier run
            </Link>
          )}
        </>
      ) : null}
    </div>
  );
}
