import {
  Button,
  type Column,
  DataTable,
  Duration,
  Panel,
  StatusMark,
  Time,
  useMedia,
} from "../../ui/index.ts";
import type { DeliveryAttempt } from "../queries.ts";

interface AttemptsPanelProps {
  /** Newest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Number of the attempt that is shown below. */
  readonly current: number | undefined;
  readonly hrefOf: (number: number) => string;
  /** Whether the page always shows the last attempt, even after a new one was made. */
  readonly isFollowed: boolean;
  readonly onFollow: () => void;
}

/** The only column on a phone, where the outcome would be truncated beside others. */
const narrowColumns: readonly Column<DeliveryAttempt>[] = [
  {
    id: "outcome",
    header: "Attempt",
    cell: ({ number, error, status, started_at }) => (
      <span className="flex min-w-0 flex-col">
        <AttemptMark error={error} status={status} />
        <span className="truncate text-dense text-ink-2">
          Attempt {number} · <Time value={started_at} />
        </span>
      </span>
    ),
  },
];

const columns: readonly Column<DeliveryAttempt>[] = [
  {
    id: "number",
    header: "Attempt",
    width: 88,
    cell: ({ number }) => <span className="font-mono text-dense">{String(number)}</span>,
  },
  {
    id: "outcome",
    header: "Outcome",
    cell: AttemptMark,
  },
  {
    id: "started",
    header: "Started",
    width: 104,
    align: "end",
    cell: ({ started_at }) => <Time value={started_at} />,
  },
  {
    id: "duration",
    header: "Duration",
    width: 92,
    align: "end",
    from: "sm",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />,
  },
];

function AttemptMark({ error, status }: Pick<DeliveryAttempt, "error" | "status">) {
  return (
    <StatusMark
      status={error === null ? "succeeded" : "failed"}
      word={error ?? `Status ${status}`}
    />
  );
}

/** The attempts of a delivery. The chosen attempt is shown below. */
export function AttemptsPanel(props: AttemptsPanelProps) {
  const { attempts, current, hrefOf, isFollowed, onFollow } = props;
  const isNarrow = !useMedia("(min-width: 640px)");
  if (attempts.length === 0) return null;
  return (
    <Panel
      title="Attempts"
      padding="none"
      actions={
        isFollowed ? undefined : (
          <Button size="small" variant="quiet" onClick={onFollow}>
            Show the last one
          </Button>
        )
      }
    >
      <DataTable
        label="Attempts"
        density={isNarrow ? "double" : "dense"}
        columns={isNarrow ? narrowColumns : columns}
        rows={attempts}
        rowKey={({ number }) => String(number)}
        rowHref={({ number }) => hrefOf(number)}
        rowOpens="details"
        currentKey={current === undefined ? undefined : String(current)}
        empty={null}
      />
      {attempts.at(-1)?.number === 1 ? null : (
        <p className="border-t border-rule px-4 py-3 text-dense text-ink-2">
          Earlier attempts are not shown.
        </p>
      )}
    </Panel>
  );
}
