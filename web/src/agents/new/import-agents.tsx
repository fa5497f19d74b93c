import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { type ChangeEvent, type FormEvent, useRef, useState } from "react";
import {
  announceChanges,
  announceIfOutdated,
  failureOf,
  isOutcomeUnknown,
  sentenceOf,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { Button, Field, FormError, LeaveGuard, TextArea } from "../../ui/index.ts";
import { agentsKey } from "../queries.ts";
import { importProblems } from "./import-errors.ts";
import { ImportProblems } from "./import-problems.tsx";
import { ImportResult } from "./import-result.tsx";

const maxBytes = 1024 * 1024;
const again = "Press Import agents again without changes: they are created once only.";

/** Creates agents from an exported file: all of them, or none. */
export function ImportAgents() {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf, release } = useIdempotencyKey();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const create = useMutation({
    mutationFn: (document: string) =>
      client.agents.import(document, { idempotencyKey: keyOf(document) }),
    onSuccess: () => {
      // Without this, a second import of the same text would have the same Idempotency-Key. The
      // server would repeat its first response, and create nothing.
      release();
      void announceChanges(queryClient, agentsKey(id));
    },
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, agentsKey(id)),
  });

  const change = (next: string) => {
    setText(next);
    setProblem(undefined);
    create.reset();
  };
  const readFile = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    // Without the reset, choosing the same file again after correcting it would cause no event.
    target.value = "";
    if (file === undefined) return;
    if (file.size > maxBytes)
      setProblem(`${file.name} is larger than 1 MiB. Export and import fewer agents at once.`);
    else
      await file
        .text()
        .then(change, () => setProblem(`${file.name} could not be read. Choose it again.`));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") return create.mutate(text);
    setProblem("Paste an export, or choose a file.");
    area.current?.focus();
  };

  if (create.isSuccess) return <ImportResult imported={create.data} onAgain={() => change("")} />;
  const isUnknown = isOutcomeUnknown(create.error);
  const problems =
    create.isError && !isUnknown ? importProblems(sentenceOf(create.error), text) : [];
  return (
    <form noValidate onSubmit={submit} className="flex max-w-220 flex-col gap-4">
      <LeaveGuard isDirty={() => text !== "" && !create.isSuccess} discardLabel="Discard import" />
      <p className="max-w-180 text-ink-2">
        Creates new agents from an export, with their triggers, and changes no agent that you have.
        If one of them cannot be created, none is. An export has no secrets: enter them again after
        the import.
      </p>
      <ImportProblems problems={problems} area={area} />
      <FormError
        error={isUnknown ? failureOf(create.error, "the agents were imported", again) : undefined}
      />
      <Field
        label="Export, as YAML or JSON"
        error={problem}
        aside={
          <Button
            size="small"
            variant="quiet"
            icon={FileUp}
            disabled={create.isPending}
            onClick={() => picker.current?.click()}
          >
            Choose a file
          </Button>
        }
      >
        <TextArea
          ref={area}
          mono
          rows={16}
          wrap="off"
          // A change of the text would reset the mutation, and the result of the import would be
          // lost.
          readOnly={create.isPending}
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
          placeholder={"beckon: 1\nagents:\n- name: Orders\n  model: demo/echo"}
        />
      </Field>
      <input
        ref={picker}
        type="file"
        accept=".yaml,.yml,.json,application/json,application/yaml"
        aria-label="File to import"
        onChange={(event) => void readFile(event)}
        hidden
      />
      <div>
        <Button type="submit" variant="primary" pending={create.isPending} pendingText="Importing…">
          Import agents
        </Button>
      </div>
    </form>
  );
}
