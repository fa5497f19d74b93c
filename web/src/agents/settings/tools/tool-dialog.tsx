import { Plus } from "lucide-react";
import { FormProvider, useFieldArray, useForm } from "react-hook-form";
import { Button, Field, FormDialog, FormError, TextArea, TextInput } from "../../../ui/index.ts";
import type { HttpTool, Tool } from "../fields.ts";
import { OperationFields } from "./operation-fields.tsx";
import { ToolLimitFields } from "./tool-limit-fields.tsx";
import { toolResolver } from "./tool-resolver.ts";
import { emptyOperation, emptyTool, type ToolValues, toolOf, valuesOfTool } from "./tool-values.ts";
import { useMessageAt } from "./use-message-at.ts";
import { ValueRows } from "./value-rows.tsx";

interface ToolDialogProps {
  /** The tool with which the form is filled in; undefined for an empty form. */
  readonly tool: HttpTool | undefined;
  readonly isNew: boolean;
  /** The agent's other tools. Their names cannot be used again. */
  readonly others: readonly Tool[];
  /** Why the tool can only be read; undefined if it can be changed. */
  readonly disabledReason: string | undefined;
  /** Why `onDone` did not take the tool; undefined if it was not called, or has taken it. */
  readonly problem: string | undefined;
  /** Called with the tool in the form. It is saved together with the agent. */
  readonly onDone: (tool: HttpTool) => void;
  readonly onClose: () => void;
}

/** The form of a tool that calls an HTTP API. */
export function ToolDialog({
  tool,
  isNew,
  others,
  disabledReason,
  problem,
  onDone,
  onClose,
}: ToolDialogProps) {
  const form = useForm<ToolValues>({
    resolver: toolResolver(others),
    defaultValues: tool === undefined ? emptyTool : valuesOfTool(tool),
    mode: "onTouched",
  });
  const { append, fields, remove } = useFieldArray({ control: form.control, name: "operations" });
  const readOnly = disabledReason !== undefined;
  // This must be read during rendering, because React Hook Form only tracks the values that are
  // read there.
  const { isDirty: isEdited } = form.formState;
  // An imported tool fills in the form, so nothing is edited, but it is nowhere else yet.
  const isImported = isNew && tool !== undefined;
  return (
    <FormDialog
      isDirty={() => (isEdited || isImported) && !readOnly}
      close={onClose}
      size="large"
      title={isNew ? "Add an HTTP tool" : `Tool ${tool?.name ?? ""}`}
      description="One tool calls one API. The model sees each of its functions, but no address and no credential."
      onSubmit={form.handleSubmit((values) => onDone(toolOf(values)))}
      submit={readOnly ? undefined : { label: isNew ? "Add tool" : "Keep changes" }}
    >
      <FormProvider {...form}>
        <fieldset disabled={readOnly} className="flex min-w-0 flex-col gap-6">
          <ToolNameFields />
          {fields.map((field, index) => (
            <OperationFields
              key={field.id}
              index={index}
              onRemove={fields.length > 1 ? () => remove(index) : undefined}
            />
          ))}
          <div>
            <Button icon={Plus} onClick={() => append(emptyOperation)} disabled={readOnly}>
              Add function
            </Button>
          </div>
          <ValueRows
            name="headers"
            title="Headers of all functions"
            hint="For example Authorization, as a secret with the prefix “Bearer ”."
          />
          <ValueRows name="query" title="Query parameters of all functions" />
          <ToolLimitFields />
        </fieldset>
        <FormError error={problem} />
      </FormProvider>
    </FormDialog>
  );
}

function ToolNameFields() {
  const { register, messageAt } = useMessageAt();
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <Field
        label="Name of the tool"
        hint="For people. Letters, digits, _ and -."
        error={messageAt("name")}
      >
        <TextInput {...register("name")} mono autoComplete="off" placeholder="shop" />
      </Field>
      <Field label="Description" optional error={messageAt("description")}>
        <TextArea {...register("description")} rows={2} autoComplete="off" />
      </Field>
    </div>
  );
}
