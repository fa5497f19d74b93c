import { Play } from "lucide-react";
import { type FormEvent, useId, useRef, useState } from "react";
import { useIdempotencyKey, useWorkspace } from "../../../data/index.ts";
import { useResets } from "../../../live/index.ts";
import { isEnded, useTranscript } from "../../../runs/index.ts";
import {
  Button,
  Dialog,
  Field,
  FormError,
  Link,
  Select,
  StatusMark,
  TextArea,
} from "../../../ui/index.ts";
import { FollowProblem } from "../../playground/follow-problem.tsx";
import { ToolUseView } from "../../playground/tool-use-view.tsx";
import { useStartRun } from "../../playground/use-start-run.ts";
import { useAgentId } from "../../queries.ts";
import { bodyOf, type Tool } from "../fields.ts";
import { functionsOf } from "./example-arguments.ts";
import { onOneLine } from "./on-one-line.ts";
import { hasNewSecret, newSecretReason } from "./secrets.ts";

interface TryDialogProps {
  readonly tool: Tool;
  /** All tools of the form. The draft run gets the same tools. */
  readonly tools: readonly Tool[];
  readonly onClose: () => void;
}

/**
 * Calls a tool without a real model: it starts a draft run (a run with unsaved settings) that uses
 * the demo model.
 */
export function TryDialog({ tool, tools, onClose }: TryDialogProps) {
  const formId = useId();
  const agentId = useAgentId();
  const functions = functionsOf(tool);
  const start = useStartRun(agentId);
  const { keyOf, release } = useIdempotencyKey();
  const resets = useResets();
  const [name, setName] = useState(functions[0]?.name ?? "");
  const [text, setText] = useState(exampleText(functions[0]));
  const [error, setError] = useState<string>();
  const area = useRef<HTMLTextAreaElement>(null);
  const choose = (chosen: string) => {
    setName(chosen);
    setText(exampleText(functions.find((each) => each.name === chosen)));
    setError(undefined);
  };
  const submit = (event: FormEvent) => {
    event.stopPropagation();
    event.preventDefault();
    const line = onOneLine(text);
    setError(
      line === undefined
        ? 'This is not JSON. Write an object, as in {"number": "4711"}.'
        : undefined,
    );
    if (line === undefined) return area.current?.focus();
    const run = {
      input: `/call ${name} ${line}`,
      config: bodyOf({ model: "demo/echo", stream: "never", max_steps: 2, tools }),
    };
    start.mutate({ ...run, idempotencyKey: keyOf(run) }, { onSuccess: release });
  };
  const needsSave = tools.some(hasNewSecret);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Try ${tool.type === "http" ? tool.name : "clock"}`}
      description="Really sends the request. It is a draft run without a model, which costs nothing."
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            type="submit"
            form={formId}
            variant="primary"
            icon={Play}
            pending={start.isPending}
            pendingText="Starting…"
            disabledReason={needsSave ? newSecretReason : undefined}
          >
            Call
          </Button>
        </>
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        <form id={formId} noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-4">
          {functions.length < 2 ? null : (
            <Field label="Function">
              <Select
                value={name}
                onChange={({ target }) => choose(target.value)}
                options={functions.map((each) => ({ value: each.name, label: each.name }))}
              />
            </Field>
          )}
          <Field label="Arguments as JSON" hint="What the model would write." error={error}>
            <TextArea
              ref={area}
              mono
              rows={3}
              spellCheck={false}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </Field>
          <FormError error={start.error} />
        </form>
        {start.data === undefined ? null : (
          // After a reset (see `useResets`), what the call has collected can lack events.
          <TriedCall key={`${start.data} ${resets}`} runId={start.data} />
        )}
      </div>
    </Dialog>
  );
}

/** Shows the tool call of the draft run and its result. */
function TriedCall({ runId }: { readonly runId: string }) {
  const { id } = useWorkspace();
  const followed = useTranscript(runId, true);
  const { transcript } = followed;
  const uses = transcript.steps.flatMap(({ tools }) => tools);
  const href = `/w/${id}/runs/${runId}`;
  return (
    <section aria-label="Call" className="flex min-w-0 flex-col gap-2">
      {uses.map((use) => (
        <ToolUseView
          key={use.callId}
          use={use}
          runHref={href}
          isOpen
          isEnded={isEnded(transcript)}
        />
      ))}
      <FollowProblem followed={followed} />
      <p className="flex flex-wrap items-center gap-x-2.5 text-dense">
        <span role="status">
          <StatusMark status={transcript.status} />
        </span>
        <Link href={href}>Open the run</Link>
      </p>
    </section>
  );
}

function exampleText(chosen: ReturnType<typeof functionsOf>[number] | undefined): string {
  return JSON.stringify(chosen?.example ?? {}, null, 2);
}
