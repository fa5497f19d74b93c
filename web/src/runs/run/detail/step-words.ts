import type { JournalEvent } from "@beckon/client";

const lostReasons: Readonly<Record<string, string>> = {
  process_lost:
    "The process that executed the run was lost or stopped while it waited for the model. If the run continued, the call was made again. The tokens are an estimate.",
  cancelled: "The run was cancelled while the model wrote. The tokens are an estimate.",
  deadline_exceeded:
    "The run reached its time limit while the model wrote. The tokens are an estimate.",
};

/**
 * Returns one to three sentences about a journal entry that contains no text of a model or a tool,
 * for example `run.queued`. The sentences are about the past, so that later entries cannot make
 * them untrue.
 */
export function sentenceFor({ type, data }: Pick<JournalEvent, "type" | "data">): string {
  switch (type) {
    case "run.queued":
      return "The run was queued to wait for a process with capacity, within the agent's limit of concurrent runs.";
    case "run.waiting":
      return "The run was held, because its agent was paused, or a limit was spent or reserved by other runs.";
    case "run.started":
      return "A process began to execute the run.";
    case "run.resumed":
      return `The process that executed the run was lost or stopped, or the run was held. A process continued from the journal, as attempt ${data.attempt}.`;
    case "run.step_lost":
      return lostReasons[String(data.reason)] ?? "The answer of the model was lost.";
    case "run.finished":
      return "The run succeeded.";
    case "run.failed":
    case "run.cancelled":
      return (data.error as { message?: string } | undefined)?.message ?? "The run ended.";
    default:
      return type;
  }
}
