import { useState } from "react";
import { useController } from "react-hook-form";
import { messageOf, useWorkspace } from "../../../data/index.ts";
import { FieldError, isEqual, lazyPart } from "../../../ui/index.ts";
import { type HttpTool, labels, type Tool } from "../fields.ts";
import type { FormValues } from "../form-values.ts";
import { Section } from "../section.tsx";
import { useSettings } from "../settings-context.tsx";
import { AddTool } from "./add-tool.tsx";
import { ToolRow } from "./tool-row.tsx";

const ToolDialog = lazyPart(async () => (await import("./tool-dialog.tsx")).ToolDialog);
const ImportDialog = lazyPart(async () => (await import("./import-dialog.tsx")).ImportDialog);
const TryDialog = lazyPart(async () => (await import("./try-dialog.tsx")).TryDialog);

/**
 * The open dialog. `replaced` is the name of the tool that is edited; undefined for a new tool. The
 * tool's position is not used, because it can change while the dialog is open, if somebody else
 * saves the agent. `problem` says why the edited tool was not put into the form.
 */
type Open =
  | {
      readonly name: "edit";
      readonly replaced?: string;
      readonly tool?: HttpTool;
      readonly problem?: string;
    }
  | { readonly name: "import" }
  | { readonly name: "try"; readonly tool: Tool };

/** The field for the agent's tools. */
export function ToolFields() {
  const { field, fieldState } = useController<FormValues, "tools">({ name: "tools" });
  const { disabledReason } = useSettings();
  const { whyNot } = useWorkspace();
  const [open, setOpen] = useState<Open>();
  const tools = field.value;
  const error = messageOf(fieldState.error);
  const close = () => setOpen(undefined);
  const add = (tool: Tool) => {
    field.onChange([...tools, tool]);
    close();
  };
  const replace = (name: string, tool: Tool) => {
    const index = tools.findIndex((each) => isNamed(each, name));
    // The dialog has the tool as it was when it was opened. If somebody else has saved the tool
    // since, their change would be undone without a question.
    if (open?.name === "edit" && !isEqual(tools[index], open.tool))
      return setOpen({ ...open, problem: index === -1 ? removedText : changedText });
    field.onChange(tools.with(index, tool));
    close();
  };
  const tryReason = whyNot("agents:invoke") ?? disabledReason;
  return (
    <Section
      title={labels.tools}
      description="Functions that the model can call. The model never sees their credentials."
      beside="field"
      fields={["tools"]}
      actions={
        <AddTool
          hasClock={tools.some(({ type }) => type === "clock")}
          isInvalid={error !== undefined}
          disabledReason={disabledReason}
          onForm={() => setOpen({ name: "edit" })}
          onImport={() => setOpen({ name: "import" })}
          onClock={() => add({ type: "clock" })}
        />
      }
    >
      {tools.length === 0 ? (
        <p className="text-ink-3">No tools: the agent can only answer.</p>
      ) : (
        <ul
          aria-label="Tools"
          className="flex min-w-0 flex-col divide-y divide-rule rounded-control border border-rule"
        >
          {tools.map((tool) => (
            <ToolRow
              key={tool.type === "http" ? tool.name : tool.type}
              tool={tool}
              disabledReason={disabledReason}
              tryReason={tryReason}
              onTry={() => setOpen({ name: "try", tool })}
              onEdit={
                tool.type === "http"
                  ? () => setOpen({ name: "edit", replaced: tool.name, tool })
                  : undefined
              }
              onRemove={() => field.onChange(tools.filter((each) => each !== tool))}
            />
          ))}
        </ul>
      )}
      <FieldError message={error} isAnnounced />
      {open?.name === "edit" ? (
        <ToolDialog
          tool={open.tool}
          isNew={open.replaced === undefined}
          others={tools.filter((each) => !isNamed(each, open.replaced))}
          disabledReason={disabledReason}
          problem={open.problem}
          onDone={(tool) =>
            open.replaced === undefined ? add(tool) : replace(open.replaced, tool)
          }
          onClose={close}
        />
      ) : null}
      {open?.name === "import" ? (
        <ImportDialog onDone={(tool) => setOpen({ name: "edit", tool })} onClose={close} />
      ) : null}
      {open?.name === "try" ? <TryDialog tool={open.tool} tools={tools} onClose={close} /> : null}
    </Section>
  );
}

const changedText =
  "This tool has changed since you opened it. Close this dialog and open the tool again.";
const removedText =
  "This tool was removed since you opened it. Close this dialog, and add the tool again if you need it.";

function isNamed(tool: Tool, name: string | undefined): boolean {
  return tool.type === "http" && tool.name === name;
}
