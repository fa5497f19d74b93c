import type { Subscription } from "@beckon/client";
import { useState } from "react";
import { formatCount, fromZoned, toZoned } from "../../../format/index.ts";
import {
  Button,
  Dialog,
  Field,
  FormError,
  RadioCards,
  TextInput,
  useTimeZone,
} from "../../../ui/index.ts";
import { useReplay } from "./use-replay.ts";

interface ReplayDialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

const hourMs = 3_600_000;
/** Deliveries are kept this long. */
const keptDays = 30;

const starts = { hour: hourMs, day: 24 * hourMs, all: keptDays * 24 * hourMs } as const;
type Range = keyof typeof starts | "custom";

/** Sends deliveries again: those that were missed, or all, in a range of time. */
export function ReplayDialog({ subscription, close }: ReplayDialogProps) {
  const zone = useTimeZone();
  const { replay, error, isPending, progress } = useReplay(subscription, close);
  const [which, setWhich] = useState<"missed" | "all">("missed");
  const [range, setRange] = useState<Range>("day");
  const [from, setFrom] = useState(() => toZoned(Date.now() - starts.day, zone));
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState<string>();
  const submit = () => {
    const isCustom = range === "custom";
    const since = isCustom ? fromZoned(from, zone) : Date.now() - starts[range];
    const until = isCustom && to !== "" ? fromZoned(to, zone) : undefined;
    if (since === undefined) return setProblem("Choose the time from which to replay.");
    if (until !== undefined && until <= since)
      return setProblem("The start must be before the end.");
    setProblem(undefined);
    replay({
      since: new Date(since).toISOString(),
      ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
      which,
    });
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Replay deliveries"
      description="They are sent again with the same webhook-id, so that your server can recognise them."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            onClick={submit}
            pending={isPending}
            pendingText={progress === 0 ? "Replaying…" : `Replayed ${formatCount(progress)}…`}
          >
            Replay
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <RadioCards
          label="Which deliveries?"
          columns={2}
          value={which}
          onChange={setWhich}
          options={[
            { value: "missed", label: "Missed", hint: "Failed, or not sent." },
            { value: "all", label: "All", hint: "Also those that succeeded." },
          ]}
        />
        <RadioCards
          label="Since when?"
          columns={2}
          density="compact"
          value={range}
          onChange={setRange}
          options={[
            { value: "hour", label: "Last hour" },
            { value: "day", label: "Last 24 hours" },
            { value: "all", label: `All ${keptDays} days` },
            { value: "custom", label: "A range" },
          ]}
        />
        {range === "custom" ? (
          <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
            <Field label="From" error={problem} hint={`Times are in ${zone}.`}>
              <TextInput
                type="datetime-local"
                value={from}
                onChange={({ target }) => setFrom(target.value)}
              />
            </Field>
            <Field label="To" optional hint="Until now if it is empty.">
              <TextInput
                type="datetime-local"
                value={to}
                onChange={({ target }) => setTo(target.value)}
              />
            </Field>
          </div>
        ) : null}
        <FormError error={error} />
      </div>
    </Dialog>
  );
}
