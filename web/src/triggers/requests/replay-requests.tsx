import type { ReplayTriggerRequestsBody } from "@beckon/client";
import type { RequestOutcome } from "@beckon/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import {
  announceChanges,
  isOutcomeUnknown,
  sentenceOf,
  serverNow,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { formatCount, formatCounted } from "../../format/index.ts";
import {
  Button,
  Dialog,
  Field,
  FormError,
  PastRangeFields,
  RadioCards,
  Select,
  useLateFailure,
  usePastRange,
  useToast,
} from "../../ui/index.ts";
import { outcomes, replayedOutcomes } from "./outcomes.ts";
import { requestsKey, type TriggerIds } from "./queries.ts";

interface ReplayRequestsProps {
  readonly trigger: TriggerIds;
  readonly close: () => void;
}

const none = { replayed: 0, skipped: 0 };

const versions = [
  { value: "current", label: "Current version", hint: "The agent as it is now." },
  { value: "original", label: "Original version", hint: "The agent as it was at the time." },
] as const;

/** Returns why requests started no run, and what to do if their original version is not stored. */
function whySkipped(
  skipped: number,
  { version }: Pick<ReplayTriggerRequestsBody, "version">,
): string {
  const it = skipped === 1 ? "it" : "them";
  const others = `the filter did not let ${it} pass, the mapping failed`;
  return version === "original"
    ? `${others}, the body cannot be read, or the original version is not stored. In the last case, replay ${it} with the current version.`
    : `${others}, or the body cannot be read.`;
}

const again = "Press Replay again without changes: what was replayed is not started twice.";

/**
 * Returns why a replay failed and, if it can have started runs, how to continue.
 * @param replayed number of requests that were replayed before the call that failed
 */
function replayFailure(thrown: unknown, replayed: number): string {
  const sentence = sentenceOf(thrown);
  // The dialog sends the Idempotency-Key, but a person does not see it.
  const words = sentence.replace(/: a repeat with the same Idempotency-Key.*$/, ".");
  const canHaveStarted = replayed > 0 || words !== sentence || isOutcomeUnknown(thrown);
  return canHaveStarted ? `${words} ${again}` : words;
}

/** Replays the verified requests of a range of time. Each event gets one run. */
export function ReplayRequests({ trigger, close }: ReplayRequestsProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const showLateFailure = useLateFailure("Replay");
  const { keyOf, release } = useIdempotencyKey();
  const [outcome, setOutcome] = useState<RequestOutcome | "">("mapping_error");
  const [version, setVersion] = useState<"current" | "original">("current");
  const range = usePastRange(serverNow);
  const [progress, setProgress] = useState(0);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const replay = useMutation({
    mutationFn: async (body: ReplayTriggerRequestsBody) => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      // One call replays only the newest requests of the range. The next call replays the requests
      // before `next_until`. After Cancel, no further call is made.
      for (let part = body, counts = none; ; ) {
        const result = await client.triggers.replayRequests(trigger.agent_id, trigger.id, part, {
          idempotencyKey: `${keyOf(body)} ${part.until ?? ""}`.trim(),
        });
        counts = {
          replayed: counts.replayed + result.replayed,
          skipped: counts.skipped + result.skipped,
        };
        setProgress(counts.replayed);
        if (!result.more || result.next_until === null || signal.aborted) return counts;
        part = { ...body, until: result.next_until };
      }
    },
    onSuccess: ({ replayed, skipped }, body) => {
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
              description: `${formatCounted(skipped, "request")} started no run: ${whySkipped(skipped, body)}`,
            }),
      });
    },
    onError: showLateFailure,
    onSettled: () => void announceChanges(queryClient, requestsKey(id, trigger)),
  });
  const submit = () => {
    const chosen = range.read(outcome, version);
    if (chosen === undefined) return;
    setProgress(0);
    replay.mutate(
      { ...chosen, ...(outcome === "" ? {} : { outcome }), version },
      // `close` is passed here and not to `useMutation`, because callbacks of `mutate` are not
      // called after this dialog was cancelled. A late `close` would close a dialog opened since.
      { onSuccess: close },
    );
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Replay many requests"
      description="Each verified request starts a new run with the present settings. An event that its sender repeated starts only one."
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
              { value: "", label: "All verified requests without spam" },
              ...replayedOutcomes.map((value) => ({ value, label: outcomes[value].word })),
            ]}
          />
        </Field>
        <PastRangeFields label="Received when?" range={range} />
        <RadioCards
          label="Which version of the agent?"
          columns={2}
          value={version}
          onChange={setVersion}
          options={versions}
        />
        <FormError error={replay.isError ? replayFailure(replay.error, progress) : undefined} />
      </div>
    </Dialog>
  );
}
