import type { ImportHttpToolAnswer } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { type ChangeEvent, useRef, useState } from "react";
import { codeOf, sentenceOf, useWorkspace } from "../../../data/index.ts";
import { Button, Field, FormDialog, FormError, TextArea, TextInput } from "../../../ui/index.ts";
import type { HttpTool } from "../fields.ts";
import { ImportReview, maxFunctions, toolIn } from "./import-review.tsx";

/** Maximum size of a request to the API. */
const maxBytes = 1024 * 1024;
const tooLarge = "is larger than 1 MiB. Remove operations that the agent does not need.";

interface ImportDialogProps {
  /** Called with a tool that has the chosen functions. The person completes it afterwards. */
  readonly onDone: (tool: HttpTool) => void;
  readonly onClose: () => void;
}

/** Creates a tool from an OpenAPI document. The person first chooses from the functions in it. */
export function ImportDialog({ onDone, onClose }: ImportDialogProps) {
  const { client } = useWorkspace();
  const [document, setDocument] = useState("");
  const [server, setServer] = useState("");
  const [review, setReview] = useState<ImportHttpToolAnswer>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const area = useRef<HTMLTextAreaElement>(null);
  const serverInput = useRef<HTMLInputElement>(null);
  const body = { document, ...(server.trim() === "" ? {} : { server: server.trim() }) };
  const read = useMutation({
    mutationFn: (operations: string[] | undefined) =>
      client.tools.importHttp({ ...body, ...(operations && { operations }) }),
    onSuccess: (answer, requested) => {
      const next = requested && review ? reviewAgain(answer, review) : firstReview(answer);
      const imported = importedIn(next);
      const isDone =
        requested?.every((id) => imported.has(id)) &&
        answer.warnings.every((warning) => review?.warnings.includes(warning));
      if (isDone) return onDone(toolIn(answer));
      setReview(next);
      setChosen(imported);
    },
    onError: (error) => (isAboutServer(error) ? serverInput : area).current?.focus(),
  });
  const [problem, setProblem] = useState<string>();
  const submit = () => {
    if (review !== undefined) {
      const imported = importedIn(review);
      const isUnchanged =
        imported.size === chosen.size && [...chosen].every((id) => imported.has(id));
      // Without the other operations, the tool can have fewer hosts and credentials.
      return isUnchanged ? onDone(toolIn(review)) : read.mutate([...chosen]);
    }
    const found =
      document.trim() === ""
        ? "Paste an OpenAPI document, or open a file."
        : new Blob([JSON.stringify(body)]).size > maxBytes
          ? `The document as a JSON text ${tooLarge}`
          : undefined;
    setProblem(found);
    if (found !== undefined) area.current?.focus();
    else read.mutate(undefined);
  };
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const open = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file === undefined) return;
    setProblem(undefined);
    if (file.size > maxBytes) setProblem(`${file.name} ${tooLarge}`);
    else
      await file
        .text()
        .then(setDocument, () => setProblem(`${file.name} could not be read. Open it again.`));
  };
  const change = () => {
    setReview(undefined);
    read.reset();
  };
  const error = read.isError ? sentenceOf(read.error) : undefined;
  const serverError = isAboutServer(read.error) ? error : undefined;
  return (
    <FormDialog
      size="large"
      isDirty={() => document !== ""}
      close={onClose}
      title="Import from OpenAPI"
      description={`OpenAPI 3.0 or 3.1, as JSON or YAML of at most 1 MiB. You review the functions, at most ${maxFunctions}, before anything is added.`}
      onSubmit={submit}
      submit={{
        label: review === undefined ? "Read document" : "Continue",
        pending: read.isPending,
        pendingText: "Reading…",
        disabled: review !== undefined && chosen.size === 0,
        disabledReason:
          review !== undefined && chosen.size > maxFunctions
            ? `Choose at most ${maxFunctions} functions.`
            : undefined,
      }}
    >
      {review === undefined ? (
        <>
          <Field
            label="Document"
            error={problem ?? (serverError === undefined ? error : undefined)}
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
              disabled={read.isPending}
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
          <Field
            label="Server"
            optional
            hint="Needed if the document has no server with an absolute URL: the URL before its paths."
            error={serverError}
          >
            <TextInput
              ref={serverInput}
              mono
              autoComplete="off"
              spellCheck={false}
              value={server}
              onChange={({ target }) => setServer(target.value)}
              placeholder="https://api.example.com/v1"
            />
          </Field>
        </>
      ) : (
        <>
          <div>
            <Button
              size="small"
              variant="quiet"
              icon={ArrowLeft}
              onClick={change}
              disabled={read.isPending}
            >
              Change document
            </Button>
          </div>
          <ImportReview answer={review} chosen={chosen} onChoose={choose} />
          <FormError error={error} />
        </>
      )}
    </FormDialog>
  );
}

/** Returns whether the server has to be entered or corrected. */
function isAboutServer(error: unknown): boolean {
  return codeOf(error) === "bad_request" && /\bserver\b/.test(sentenceOf(error));
}

/**
 * Returns what to choose from: what was imported, or all operations if they are too many for a
 * tool. Nothing is chosen then, and the warnings are about what nobody has chosen.
 */
function firstReview(answer: ImportHttpToolAnswer): ImportHttpToolAnswer {
  const { operations } = answer;
  return operations.length > maxFunctions
    ? { ...answer, warnings: [], operations: operations.map((each) => ({ ...each, name: null })) }
    : { ...answer, operations: operations.filter(({ name }) => name !== null) };
}

/** Returns the answer with the operations from which the person has chosen. */
function reviewAgain(
  answer: ImportHttpToolAnswer,
  before: ImportHttpToolAnswer,
): ImportHttpToolAnswer {
  const ids = new Set(before.operations.map(({ id }) => id));
  return { ...answer, operations: answer.operations.filter(({ id }) => ids.has(id)) };
}

function importedIn({ operations }: ImportHttpToolAnswer): ReadonlySet<string> {
  return new Set(operations.filter(({ name }) => name !== null).map(({ id }) => id));
}
