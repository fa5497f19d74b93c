import type { ReplayTriggerRequestsBody } from "@beckon/client";
import type { RequestOutcome } from "@beckon/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { formatCount, formatCounted, fromZoned, toZoned } from "../../format/index.ts";
import {
  Button,
  Dialog,
  Field,
  FormError,
  RadioCards,
  Select,
  TextInput,
  useTimeZone,
  useToast,
} from "../../ui/index.ts";
import { outcomes, storedOutcomes } from "./outcomes.ts";
import { requestsKey, type TriggerIds } from "./queries.ts";

interface ReplayRequestsProps {
  readonly trigger: TriggerIds;
  readonly close: () => void;
}

const hourMs = 3_600_000;
const starts = { hour: hourMs, day: 24 * hourMs, all: 30 * 24 * hourMs } as const;
type Range = keyof typeof starts | "custom";

const none = { replayed: 0, skipped: 0 };

const versions = [
  { value: "current", label: "Current version", hint: "The agent as it is now." },
  { value: "original", label: "Original version", hint: "The agent as it was at the time." },
] as const;

/** Replays the verified requests of a range of time, each as a run of its own. */
export function ReplayRequests({ trigger, close }: ReplayRequestsProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const zone = useTimeZone();
  const { keyOf, release } = useIdempotencyKey();
  const [outcome, setOutcome] = useState<RequestOutcome | "">("mapping_error");
  const [version, setVersion] = useState<"current" | "original">("current");
  const [range, setRange] = useState<Range>("day");
  const [from, setFrom] = useState(() => toZoned(Date.now() - starts.day, zone));
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState<string>();
  const [progress, setProgress] = useState(0);
  // The same for each press of the button, so that pressing it again repeats the same call.
  const [openedMs] = useState(Date.now);
  const replay = useMutation({
    mutationFn: async (body: ReplayTriggerRequestsBody) => {
      // One call replays the newest requests of the range, so the next one ends where it began.
      for (let range = body, counts = none; ; ) {
        const result = await client.triggers.replayRequests(trigger.agent_id, trigger.id, range, {
          idempotencyKey: `${keyOf(body)} ${range.until ?? ""}`.trim(),
        });
        counts = {
          replayed: counts.replayed + result.replayed,
          skipped: counts.skipped + result.skipped,
        };
        setProgress(counts.replayed);
        if (!result.more || result.next_until === null) return counts;
        range = { ...body, until: result.next_until };
      }
    },
    onSuccess: ({ replayed, skipped }) => {
      release();
      toast({
        tone: replayed === 0 ? "info" : "success",
        title:
          replayed === 0
            ? "There was nothing to replay"
            : `Replayed ${formatCounted(replayed, "request")}`,
        ...(skipped === 0
          ? {}
          : {
              description: `${formatCounted(skipped, "request")} started no run: the filter did not let ${skipped === 1 ? "it" : "them"} pass, or the mapping failed.`,
            }),
      });
      close();
    },
    onSettled: () => announceChanges(queryClient, requestsKey(id, trigger)),
  });
  const submit = () => {
    const isCustom = range === "custom";
    const since = isCustom ? fromZoned(from, zone) : openedMs - starts[range];
    const until = isCustom && to !== "" ? fromZoned(to, zone) : undefined;
    if (since === undefined) return setProblem("Choose the time from which to replay.");
    if (until !== undefined && until <= since)
      return setProblem("The start must be before the end.");
    setProblem(undefined);
    setProgress(0);
    replay.mutate({
      since: new Date(since).toISOString(),
      ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
      ...(outcome === "" ? {} : { outcome }),
      version,
    });
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Replay many requests"
      description="Each verified request starts a new run with the present settings."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            onClick={submit}
            pending={replay.isPending}
            pendingText={progress === 0 ? "Replaying…" : `Replayed ${formatCount(progress)}…`}
          >
            Replay
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label="Which requests?">
          <Select
            value={outcome}
            onChange={({ target }) => setOutcome(target.value as RequestOutcome | "")}
            options={[
              { value: "", label: "All verified requests" },
              ...storedOutcomes.map((value) => ({ value, label: outcomes[value].word })),
            ]}
          />
        </Field>
        <RadioCards
          label="Received when?"
          columns={2}
          density="compact"
          value={range}
          onChange={setRange}
          options={[
            { value: "hour", label: "Last hour" },
            { value: "day", label: "Last 24 hours" },
            { value: "all", label: "All 30 days" },
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
        <RadioCards
          label="Onto which version of the agent?"
          columns={2}
          value={version}
          onChange={setVersion}
          options={versions}
        />
        <FormError error={replay.error} />
      </div>
    </Dialog>
  );
}
