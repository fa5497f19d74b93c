import { Pause, Play } from "lucide-react";
import { memo, type ReactNode } from "react";
import { useWorkspace } from "../data/index.ts";
import { Duration, Row, StatusMark, Time } from "../ui/index.ts";
import type { FeedLine } from "./feed.ts";

interface FeedRowProps {
  readonly line: FeedLine;
  readonly agentName: string;
}

/** A line of the feed. It is rendered again only if its content changes. */
export const FeedRow = memo(function FeedRow({ line, agentName: name }: FeedRowProps) {
  const { id } = useWorkspace();
  if (line.kind === "agent") {
    const Icon = line.isPaused ? Pause : Play;
    return (
      <Row
        href={`/w/${id}/agents/${line.agentId}`}
        start={
          <span className="inline-flex text-brass">
            <Icon aria-hidden />
          </span>
        }
        title={
          <Line name={name}>
            {line.isPaused ? "was paused" : "was resumed"}
            {line.reason === undefined ? "" : `: ${line.reason}`}
          </Line>
        }
        end={<Time value={line.at} />}
      />
    );
  }
  const { key, status, startedAt, endedAt, error, input, at } = line;
  return (
    <Row
      href={`/w/${id}/runs/${key}`}
      start={<StatusMark status={status} label="hidden" />}
      title={<Line name={name}>{error ?? input}</Line>}
      end={
        <span className="flex items-center gap-3 text-dense text-ink-2">
          {startedAt == null || endedAt === undefined ? null : (
            <Duration ms={endedAt - startedAt} />
          )}
          <span className="w-20 text-right whitespace-nowrap">
            <Time value={at} />
          </span>
        </span>
      }
    />
  );
}, saysTheSame);

/**
 * Compares the contents of lines, because each event and each refresh of the list creates new
 * objects.
 */
function saysTheSame(before: FeedRowProps, after: FeedRowProps): boolean {
  const line: Readonly<Record<string, unknown>> = { ...before.line };
  return (
    before.agentName === after.agentName &&
    Object.entries(after.line).every(([name, value]) => line[name] === value)
  );
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <span className="flex min-w-0 gap-2">
      <bdi className="truncate" title={name}>
        {name}
      </bdi>
      {children === undefined ? null : (
        <bdi className="min-w-1/3 flex-1 truncate text-ink-3">{children}</bdi>
      )}
    </span>
  );
}
