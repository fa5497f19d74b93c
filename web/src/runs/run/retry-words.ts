import type { Run } from "@beckon/client";

/**
 * Returns what a toast says after a retry. A run that a limit failed when it was created has not
 * bound the id of its event. If the sender has repeated the event meanwhile, or a person has
 * replayed its request, the API returns that run, which is no retry of this one.
 */
export function retryWords(
  run: Pick<Run, "id">,
  started: Pick<Run, "retry_of">,
): { readonly title: string; readonly description?: string } {
  if (started.retry_of === run.id) return { title: "The retry has started as a new run." };
  return {
    title: "This run of the same event was started before.",
    description: "No new run was started.",
  };
}
