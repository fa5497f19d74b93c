import type { RetryRunBody, Run } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  failureWords,
  sentenceOf,
  storedIdempotencyKey,
  useMe,
  useWorkspace,
} from "../../data/index.ts";
import { download, parseExactly } from "../../json/index.ts";
import { useNavigateFrom, useToast } from "../../ui/index.ts";
import { isEnded, newerRun } from "../patch-run.ts";
import { removeFromLists, runQuery, runsKey } from "../queries.ts";
import { retryWords } from "./retry-words.ts";

/** Returns the actions on a run. */
export function useRunActions(run: Run) {
  const workspace = useWorkspace();
  const { id, client } = workspace;
  const cache = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const key = storedIdempotencyKey(useMe().id, `retry.${run.id}`);

  const start = async (body: RetryRunBody): Promise<Run> => {
    const started = await client.runs.retry(run.id, body, { idempotencyKey: key.keyOf(body) });
    key.release();
    cache.setQueryData(runQuery(workspace, started.id).queryKey, started);
    void announceChanges(cache, runsKey(id));
    toast({ tone: "success", ...retryWords(run, started) });
    return started;
  };
  const path = (runId: string) => `/w/${id}/runs/${runId}`;
  const retry = useMutation({
    mutationFn: async (body: RetryRunBody) => {
      const navigateHere = navigateFrom();
      await navigateHere({ href: path((await start(body)).id) });
    },
    onError: (thrown) =>
      toast({
        tone: "failure",
        ...failureWords(
          thrown,
          "The run was not retried.",
          "the run was retried",
          "Retry it with the same version: it is retried once only.",
        ),
      }),
  });
  return {
    /** Starts a new run with the same input, and opens it. Failures are shown in a toast. */
    retry: (version: "current" | "original") => retry.mutate({ version }),
    isRetrying: retry.isPending,
    /**
     * Starts a new run and returns it.
     * @throws BeckonError
     */
    retryWith: start,
    /** Returns a function that opens the page of a run, unless another page is open by then. */
    openFromHere: () => {
      const navigateHere = navigateFrom();
      return (started: Run) => void navigateHere({ href: path(started.id) });
    },
    /**
     * Requests the cancellation of the run. The run ends once the process that executes it has
     * stopped it. A run that has ended meanwhile stays as it is.
     */
    cancel: async () => {
      const read = await client.runs.cancel(run.id);
      cache.setQueryData(runQuery(workspace, run.id).queryKey, (known) => newerRun(known, read));
      void announceChanges(cache, runsKey(id));
      toast({ title: cancelWords(read) });
    },
    remove: async () => {
      const navigateHere = navigateFrom();
      await client.runs.delete(run.id);
      toast({ tone: "success", title: "Run deleted." });
      await navigateHere({ href: `/w/${id}/runs` });
      cache.removeQueries({ queryKey: runQuery(workspace, run.id).queryKey });
      removeFromLists(cache, id, [run.id]);
      void announceChanges(cache, runsKey(id));
    },
    /** Downloads the whole journal as a file with one entry per line. */
    saveJournal: async () => {
      try {
        const lines: string[] = [];
        const entries = client.runs.listEvents(run.id, { limit: 200 }, { parse: parseExactly });
        for await (const entry of entries) lines.push(JSON.stringify(entry));
        download(`${run.id}.jsonl`, `${lines.join("\n")}\n`, "application/jsonl");
      } catch (thrown) {
        toast({
          tone: "failure",
          title: "The journal was not downloaded.",
          description: sentenceOf(thrown),
        });
      }
    },
  };
}

function cancelWords(run: Run): string {
  if (!isEnded(run)) return "The run is being cancelled.";
  return run.status === "cancelled"
    ? "The run was cancelled."
    : "The run ended before it could be cancelled.";
}
