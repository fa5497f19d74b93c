import type { Trigger } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { announceChanges, sentenceOf, useWorkspace } from "../../data/index.ts";
import { useToast } from "../../ui/index.ts";
import { triggersKey } from "../queries.ts";

/** Starts and stops listening for a sample: the next verified request is captured. */
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
  return {
    /** The seconds that remain; 0 if Beckon does not listen. */
    secondsLeft: useSecondsLeft(listening_until),
    start: () => start.mutate(),
    stop: () => stop.mutate(),
    isPending: start.isPending || stop.isPending,
  };
}

function useSecondsLeft(until: string | null): number {
  const [nowMs, setNowMs] = useState(Date.now);
  const secondsLeft = until === null ? 0 : Math.ceil((Date.parse(until) - nowMs) / 1_000);
  const isOver = secondsLeft <= 0;
  useEffect(() => {
    setNowMs(Date.now());
    if (until === null || isOver) return;
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until, isOver]);
  return Math.max(0, secondsLeft);
}
