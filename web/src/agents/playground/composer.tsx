import { Play, Square } from "lucide-react";
import type { KeyboardEvent, Ref } from "react";
import { failureWords, isOutcomeUnknown } from "../../data/index.ts";
import { formatCounted } from "../../format/index.ts";
import { Button, Field, Kbd, Problem, TextArea } from "../../ui/index.ts";

interface ComposerProps {
  readonly ref: Ref<HTMLTextAreaElement>;
  readonly message: string;
  readonly onMessage: (message: string) => void;
  readonly onRun: () => void;
  readonly isStarting: boolean;
  /** The error of the last attempt to start a run; undefined or null if there was none. */
  readonly error: unknown;
  /** Number of unsaved settings. If there are any, the run is a draft run. */
  readonly unsaved: number;
  /** Why the person cannot run the agent; undefined if they can. */
  readonly disabledReason: string | undefined;
  /** Cancels the current run; undefined if no run is active. */
  readonly onStop: (() => void) | undefined;
  readonly isStopping: boolean;
  /** The error of the last attempt to cancel the current run; null if there was none. */
  readonly stopError: Error | null;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The field for a message to the agent. Each message starts a run. */
export function Composer({
  ref,
  message,
  onMessage,
  onRun,
  isStarting,
  error,
  unsaved,
  disabledReason,
  onStop,
  isStopping,
  stopError,
}: ComposerProps) {
  const canRun = disabledReason === undefined && onStop === undefined;
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (canRun && !isStarting) onRun();
  };
  return (
    <form
      noValidate
      aria-label="Message to the agent"
      onSubmit={(event) => {
        event.preventDefault();
        if (canRun) onRun();
      }}
      className="flex min-w-0 flex-col gap-2"
    >
      <Failure
        error={error}
        failed="The run was not started."
        what="the run was started"
        again="Press Run again: the same message with the same settings starts one run only."
      />
      {/* This is no toast, because a toast can cover the button Stop. */}
      <Failure
        error={stopError}
        failed="The run was not stopped."
        what="the run was stopped"
        again="Press Stop again: that does no harm."
      />
      <Field label="Message" labelHidden>
        <TextArea
          ref={ref}
          value={message}
          onChange={({ target }) => onMessage(target.value)}
          onKeyDown={press}
          rows={2}
          dir="auto"
          placeholder="Write a message to the agent"
          readOnly={disabledReason !== undefined}
        />
      </Field>
      <div className="flex min-w-0 items-center gap-3">
        <p className="min-w-0 flex-1 text-label text-ink-3">
          {unsaved === 0
            ? "Every message is a run of its own. The agent does not remember the one before."
            : `Runs as a draft with ${formatCounted(unsaved, "unsaved change")}. The saved agent stays as it is.`}
        </p>
        {onStop === undefined ? (
          <>
            <span
              className="hidden items-center gap-1 sm:inline-flex pointer-coarse:hidden"
              aria-hidden="true"
            >
              <Kbd>{isMac ? "⌘" : "Ctrl"}</Kbd>
              <Kbd>↵</Kbd>
            </span>
            <Button
              type="submit"
              variant="primary"
              icon={Play}
              pending={isStarting}
              pendingText="Starting…"
              disabledReason={disabledReason}
            >
              Run
            </Button>
          </>
        ) : (
          <Button icon={Square} onClick={onStop} pending={isStopping} pendingText="Stopping…">
            Stop
          </Button>
        )}
      </div>
    </form>
  );
}

interface FailureProps {
  readonly error: unknown;
  /** A sentence that says what failed, and the other parameters of `failureWords`. */
  readonly failed: string;
  readonly what: string;
  readonly again: string;
}

/** Why a run was not started or stopped; nothing if `error` is undefined or null. */
function Failure({ error, failed, what, again }: FailureProps) {
  if (error === null || error === undefined) return null;
  const { title, description } = failureWords(error, failed, what, again);
  return <Problem title={title} error={isOutcomeUnknown(error) ? description : error} />;
}
