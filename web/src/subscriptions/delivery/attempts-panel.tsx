import {
  Button,
  type Column,
  DataTable,
  Duration,
  Panel,
  StatusMark,
  Time,
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
    cell: ({ error, status }) => (
      <StatusMark
        status={error === null ? "succeeded" : "failed"}
        word={error ?? `Status ${status}`}
      />
    ),
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

/** The attempts of a delivery. The one that is chosen is shown below. */
export function AttemptsPanel(props: AttemptsPanelProps) {
  const { attempts, current, hrefOf, isFollowed, onFollow } = props;
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
        density="dense"
        columns={columns}
        rows={attempts}
        rowKey={({ number }) => String(number)}
        rowHref={({ number }) => hrefOf(number)}
        currentKey={current === undefined ? undefined : String(current)}
        empty={null}
      />
    </Panel>
  );
}
