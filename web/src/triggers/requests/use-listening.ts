import type { Trigger } from "@beckon/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { announceChanges, sentenceOf, toServerTime, useWorkspace } from "../../data/index.ts";
import { useToast } from "../../ui/index.ts";
import { triggerQuery, triggersKey } from "../queries.ts";

/** Time between two reads of the trigger while Beckon listens, in milliseconds. */
const pollMs = 2_000;

/**
 * Returns how to start and stop listening for a sample, and how long Beckon still listens. While it
 * listens, it captures the next verified request as the sample.
 */
export function useListening({ id, agent_id, listening_until }: Trigger) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const client = workspace.client.triggers;
  const onSettled = () => announceChanges(queryClient, triggersKey(workspace.id, agent_id));
  const onError = (thrown: unknown) =>
    toast({
      tone: "failure",
      title: "Listening was not changed.",
      description: sentenceOf(thrown),
    });
  const start = useMutation({
    mutationFn: async () => void (await client.listen(agent_id, id, {})),
    onError,
    onSettled,
  });
  const stop = useMutation({
    mutationFn: () => client.stopListening(agent_id, id),
    onError,
    onSettled,
  });
  const secondsLeft = useSecondsLeft(listening_until);
  // Beckon stops listening when it captures a request. A filtered list may not contain this
  // request, so the trigger is polled to notice the end of listening.
  useQuery({
    ...triggerQuery(workspace, agent_id, id),
    refetchInterval: pollMs,
    enabled: secondsLeft > 0,
  });
  return {
    /** The seconds that remain; 0 if Beckon does not listen. */
    secondsLeft,
    start: () => start.mutate(),
    stop: () => stop.mutate(),
    isPending: start.isPending || stop.isPending,
  };
}

function useSecondsLeft(until: string | null): number {
  const [nowMs, setNowMs] = useState(() => toServerTime());
  const secondsLeft = until === null ? 0 : Math.ceil((Date.parse(until) - nowMs) / 1_000);
  const isOver = secondsLeft <= 0;
  useEffect(() => {
    setNowMs(toServerTime());
    if (until === null || isOver) return;
    const timer = setInterval(() => setNowMs(toServerTime()), 1_000);
    return () => clearInterval(timer);
  }, [until, isOver]);
  return Math.max(0, secondsLeft);
}
