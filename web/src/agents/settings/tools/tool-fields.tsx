import { useState } from "react";
import { useController } from "react-hook-form";
import { messageOf, reasonWithout, useWorkspace } from "../../../data/index.ts";
import { FieldError, lazyPart } from "../../../ui/index.ts";
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
 * saves the agent.
 */
type Open =
  | { readonly name: "edit"; readonly replaced?: string; readonly tool?: HttpTool }
  | { readonly name: "import" }
  | { readonly name: "try"; readonly tool: Tool };

/** The field for the agent's tools. */
export function ToolFields() {
  const { field, fieldState } = useController<FormValues, "tools">({ name: "tools" });
  const { disabledReason } = useSettings();
  const { can } = useWorkspace();
  const [open, setOpen] = useState<Open>();
  const tools = field.value;
  const error = messageOf(fieldState.error);
  const close = () => setOpen(undefined);
  const put = (tool: Tool, replaced?: string) => {
    const index = tools.findIndex((each) => isNamed(each, replaced));
    field.onChange(tools.toSpliced(index === -1 ? tools.length : index, 1, tool));
    close();
  };
  const tryReason = reasonWithout("agents:invoke", can) ?? disabledReason;
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
          onClock={() => put({ type: "clock" })}
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
          onDone={(tool) => put(tool, open.replaced)}
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

function isNamed(tool: Tool, name: string | undefined): boolean {
  return tool.type === "http" && tool.name === name;
}
