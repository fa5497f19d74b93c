import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import { useWorkspace } from "../data/index.ts";
import { useEvents } from "../live/index.ts";
import { isQueueDue, queueQuery } from "./queries.ts";

/** Time between two checks whether the queue must be refetched. */
const checkMs = 15_000;

/**
 * Returns the queue of the workspace. It is refetched every 15 seconds while runs are queued. An
 * empty queue is refetched once a minute, and within 15 seconds after an event says that a run was
 * queued.
 */
export function useQueue() {
  const queue = useQuery(queueQuery(useWorkspace()));
  // It begins with the current time, so that the queue is refetched once: a cached queue lacks the
  // runs that were queued while no component received their events.
  const queuedAt = useRef(Date.now());
  useEvents((events) => {
    if (events.some(({ type }) => type === "run.queued")) queuedAt.current = Date.now();
  });
  const check = useEffectEvent(() => {
    if (document.hidden || queue.isFetching) return;
    if (isQueueDue(queue.data, queuedAt.current)) void queue.refetch();
  });
  useEffect(() => {
    const timer = setInterval(() => check(), checkMs);
    return () => clearInterval(timer);
  }, []);
  return queue;
}
