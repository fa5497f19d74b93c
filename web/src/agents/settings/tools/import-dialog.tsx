import type { ImportHttpToolAnswer } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { type ChangeEvent, useRef, useState } from "react";
import { sentenceOf, useWorkspace } from "../../../data/index.ts";
import { Banner, Button, Checkbox, Field, FormDialog, TextArea } from "../../../ui/index.ts";
import type { HttpTool } from "../fields.ts";

interface ImportDialogProps {
  /** Called with a tool that has the chosen functions. The person completes it afterwards. */
  readonly onDone: (tool: HttpTool) => void;
  readonly onClose: () => void;
}

/** Creates a tool from an OpenAPI document. The person first chooses from the functions in it. */
export function ImportDialog({ onDone, onClose }: ImportDialogProps) {
  const { client } = useWorkspace();
  const [document, setDocument] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const area = useRef<HTMLTextAreaElement>(null);
  const read = useMutation({
    mutationFn: (text: string) => client.tools.importHttp({ document: text }),
    onSuccess: ({ tool }) =>
      setChosen(new Set(toolIn(tool).operations.map((operation) => operation.name))),
    onError: () => area.current?.focus(),
  });
  const [problem, setProblem] = useState<string>();
  const submit = () => {
    if (read.data !== undefined) {
      const tool = toolIn(read.data.tool);
      return onDone({
        ...tool,
        operations: tool.operations.filter(({ name }) => chosen.has(name)),
      });
    }
    const isEmpty = document.trim() === "";
    setProblem(isEmpty ? "Paste an OpenAPI document, or open a file." : undefined);
    if (isEmpty) area.current?.focus();
    else read.mutate(document);
  };
  const choose = (name: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(name);
    else next.delete(name);
    setChosen(next);
  };
  const open = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    setProblem(undefined);
    await file
      ?.text()
      .then(setDocument, () => setProblem(`${file.name} could not be read. Open it again.`));
  };
  return (
    <FormDialog
      size="large"
      isDirty={() => document !== ""}
      close={onClose}
      title="Import from OpenAPI"
      description="OpenAPI 3.0 or 3.1, as JSON or YAML. You review the functions before anything is added."
      onSubmit={submit}
      submit={{
        label: read.data === undefined ? "Read document" : "Continue",
        pending: read.isPending,
        pendingText: "Reading…",
        disabled: read.data !== undefined && chosen.size === 0,
      }}
    >
      {read.data === undefined ? (
        <>
          <Field
            label="Document"
            error={problem ?? (read.isError ? sentenceOf(read.error) : undefined)}
          >
            <TextArea
              ref={area}
              mono
              rows={10}
              autoFocus
              spellCheck={false}
              value={document}
              onChange={({ target }) => setDocument(target.value)}
              placeholder="openapi: 3.1.0"
            />
          </Field>
          <label className="flex flex-col gap-1 text-label font-semibold text-ink-2">
            Or open a file
            <input
              type="file"
              accept=".json,.yaml,.yml,application/json,application/yaml"
              // Browsers report no change if the same file is chosen again, for example after it
              // was corrected. An empty value makes each choice a change.
              onClick={({ currentTarget }) => {
                currentTarget.value = "";
              }}
              onChange={(event) => void open(event)}
              className="text-dense font-normal text-ink"
            />
          </label>
        </>
      ) : (
        <>
          <div>
            <Button size="small" variant="quiet" icon={ArrowLeft} onClick={read.reset}>
              Change document
            </Button>
          </div>
          <Review answer={read.data} chosen={chosen} onChoose={choose} />
        </>
      )}
    </FormDialog>
  );
}

interface ReviewProps {
  readonly answer: ImportHttpToolAnswer;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (name: string, isChosen: boolean) => void;
}

function Review({ answer, chosen, onChoose }: ReviewProps) {
  const { operations } = toolIn(answer.tool);
  return (
    <>
      {answer.warnings.length === 0 ? null : (
        <Banner tone="warning">
          <ul className="flex flex-col gap-1">
            {answer.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Banner>
      )}
      <fieldset className="flex min-w-0 flex-col gap-2">
        <legend className="pb-1 text-label font-semibold text-ink-2">
          {`Functions to add: ${chosen.size} of ${operations.length}`}
        </legend>
        {operations.map(({ name, method, url, description }) => (
          <Checkbox
            key={name}
            label={name}
            checked={chosen.has(name)}
            onChange={({ target }) => onChoose(name, target.checked)}
            hint={
              <span className="flex min-w-0 flex-col">
                <span>{description}</span>
                <span className="font-mono break-all">{`${method} ${url}`}</span>
              </span>
            }
          />
        ))}
      </fieldset>
    </>
  );
}

/**
 * Casts the tool, which the API's schema describes as any JSON object. The tool's form checks it
 * when the person adds it to the agent.
 */
function toolIn(tool: ImportHttpToolAnswer["tool"]): HttpTool {
  return tool as unknown as HttpTool;
}
