import type { Agent } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useFormState, useWatch } from "react-hook-form";
import { useWorkspace } from "../../data/index.ts";
import { useResets } from "../../live/index.ts";
import { Button, useBarHeight } from "../../ui/index.ts";
import { useAgent } from "../queries.ts";
import { bodyOf } from "../settings/fields.ts";
import type { FormValues } from "../settings/form-values.ts";
import { useSettings } from "../settings/settings-context.tsx";
import { hasNewSecret, newSecretReason } from "../settings/tools/secrets.ts";
import { Composer } from "./composer.tsx";
import { EarlierRun } from "./earlier-run.tsx";
import { EmptyConversation } from "./empty-conversation.tsx";
import { type PlaygroundSearch, queryOf } from "./playground-search.ts";
import { TurnView } from "./turn-view.tsx";
import { useFollowedEnd } from "./use-followed-end.ts";
import { useMessage } from "./use-message.ts";
import { useStartRun } from "./use-start-run.ts";
import { useTurns } from "./use-turns.ts";

interface ConversationProps {
  readonly search: PlaygroundSearch;
}

/** Messages to the agent and its answers. */
export function Conversation({ search }: ConversationProps) {
  const agent = useAgent();
  const { client, can, whyNot } = useWorkspace();
  const navigate = useNavigate();
  const { collect } = useSettings();
  const { dirtyFields, errors } = useFormState<FormValues>();
  const needsSave = useWatch<FormValues, "tools">({ name: "tools" }).some(hasNewSecret);
  const { turns, add, clear } = useTurns(agent.id);
  const resets = useResets();
  const unsent = useMessage(agent.id, search.run);
  const { message, run: earlier, setMessage } = unsent;
  /** Whether the last message was not sent because a setting has an error. */
  const [isInvalid, setInvalid] = useState(false);
  const [running, setRunning] = useState<string>();
  const start = useStartRun(agent.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useFollowedEnd(turns.length);
  const bar = useRef<HTMLDivElement>(null);
  useBarHeight(bar);

  const canRun = can("agents:invoke");
  useEffect(() => {
    // When this code is loaded, the person may already have moved the focus, for example to a
    // button of the header. In that case, the focus stays there.
    const isUnmoved = document.activeElement?.matches("body, main, [aria-current=page]");
    // The field is focused only on devices with a mouse: on others the focus opens a keyboard that
    // covers half of the screen.
    if (canRun && isUnmoved && matchMedia("(pointer: fine)").matches)
      field.current?.focus({ preventScroll: true });
  }, [canRun]);

  const run = async () => {
    if (message.trim() === "") return field.current?.focus();
    const changes = await collect();
    setInvalid(changes === undefined);
    if (changes === undefined) return;
    const isDraft = Object.keys(changes).length > 0;
    const config = isDraft ? bodyOf(changes) : {};
    const idempotencyKey = unsent.startKeyOf([message, agent.version, config]);
    start.mutate(
      { input: message, config, idempotencyKey },
      {
        // This is not called if another screen was opened in the meantime. The message then stays
        // in the field. If it is sent again, `startKeyOf` returns the same key, so no second run is
        // started.
        onSuccess: (runId) => {
          add({ runId, input: message, version: agent.version, isDraft, resets });
          setRunning(runId);
          unsent.clear(message);
        },
      },
    );
  };
  const stop = useMutation({ mutationFn: (runId: string) => client.runs.cancel(runId) });
  const report = useCallback(
    (runId: string, isRunning: boolean) =>
      setRunning((before) => (isRunning ? runId : before === runId ? undefined : before)),
    [],
  );
  const suggest = (text: string) => {
    setMessage(text);
    field.current?.focus();
  };

  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-11 items-center gap-2 border-b border-rule px-4 md:px-6">
        <h2 className="flex-1 text-section font-semibold">Conversation</h2>
        {turns.length === 0 ? null : (
          <Button
            size="small"
            variant="quiet"
            onClick={clear}
            disabledReason={
              // Without its turn, nothing would show when the run ends, and Stop would stay.
              running === undefined ? undefined : "Wait for the run, or stop it first."
            }
          >
            Clear
          </Button>
        )}
      </div>
      <div ref={list} className="min-h-0 flex-1 px-4 py-4 md:px-6 lg:overflow-y-auto">
        {turns.length === 0 ? (
          <EmptyConversation onSuggest={canRun ? suggest : undefined} />
        ) : (
          <div className="mx-auto flex max-w-180 min-w-0 flex-col gap-8">
            {turns.map((turn) => (
              <TurnView
                // After a reset (see `useResets`), what a turn has collected can lack events. With
                // another `key`, React creates the turn anew, and the turn reads its run again.
                key={`${turn.runId} ${resets}`}
                turn={turn}
                isNew={turn.resets === resets}
                onRunning={report}
                compareHref={
                  earlier === undefined || earlier === turn.runId
                    ? undefined
                    : `${location.pathname}${queryOf({ run: earlier, compare: turn.runId })}`
                }
              />
            ))}
          </div>
        )}
      </div>
      <div
        ref={bar}
        className="sticky bottom-bars z-10 border-t border-rule bg-sheet px-4 py-3 md:bottom-0 md:px-6 low:static"
      >
        <div className="mx-auto flex max-w-180 flex-col gap-3">
          {earlier === undefined ? null : (
            <EarlierRun
              key={earlier}
              runId={earlier}
              onInput={unsent.fillIn}
              onDismiss={() => {
                unsent.forgetRun();
                void navigate({ to: ".", search: {}, replace: true });
              }}
            />
          )}
          <Composer
            ref={field}
            message={message}
            onMessage={setMessage}
            onRun={() => void run()}
            isStarting={start.isPending}
            error={
              isInvalid && Object.keys(errors).length > 0
                ? "A setting that is not saved has an error. Correct it in the settings."
                : start.error
            }
            unsaved={Object.keys(dirtyFields).length}
            disabledReason={
              whyNot("agents:invoke") ??
              whyPaused(agent.paused_by) ??
              (needsSave ? newSecretReason : undefined)
            }
            onStop={running === undefined ? undefined : () => stop.mutate(running)}
            isStopping={stop.isPending}
            stopError={stop.variables === running ? stop.error : null}
          />
        </div>
      </div>
    </div>
  );
}

/** Returns why a paused agent does not run; undefined if it is not paused. */
function whyPaused(pausedBy: Agent["paused_by"]): string | undefined {
  if (pausedBy === null) return undefined;
  return pausedBy === "limit"
    ? "The agent is paused by its ceiling. It runs again when the ceiling resets or is raised."
    : "The agent is paused. Resume it to run it.";
}
