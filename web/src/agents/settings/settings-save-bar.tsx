import { useContext } from "react";
import { useFormState } from "react-hook-form";
import { writeDollars } from "../../format/index.ts";
import { MergeDialog, SaveBar, type SaveState } from "../../ui/index.ts";
import { labels, type Tool } from "./fields.ts";
import type { FormValues } from "./form-values.ts";
import { LayoutContext } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";
import { shownTool, toolLabels } from "./tools/mergeable.ts";

/**
 * The bar that saves the settings. If someone else has changed the same settings since the form was
 * filled in, it asks which values to keep.
 */
export function SettingsSaveBar() {
  const { base, state, disabledReason, resolve, cancelMerge, discard } = useSettings();
  const { isDirty, dirtyFields } = useFormState<FormValues>();
  const layout = useContext(LayoutContext);
  const isSaving = state.name === "saving" || state.name === "unknown";
  const shown: SaveState = isSaving
    ? "saving"
    : isDirty
      ? "dirty"
      : state.name === "saved"
        ? "saved"
        : "clean";
  return (
    <>
      <SaveBar
        state={shown}
        changed={Object.entries(labels).flatMap(([name, label]) =>
          name in dirtyFields ? [label] : [],
        )}
        savedText={`Saved v${base.version}`}
        onDiscard={discard}
        disabledReason={disabledReason}
        place={layout}
      />
      {state.name === "conflict" ? (
        <MergeDialog
          noun="agent"
          base={{ ...state.base }}
          theirs={{ ...state.theirs }}
          yours={{ ...state.base, ...state.yours }}
          parts={["tools"]}
          labels={{
            ...labels,
            ...toolLabels(state.base.tools, state.theirs.tools, state.yours.tools ?? {}),
          }}
          show={shownValue}
          onMerge={resolve}
          onCancel={cancelMerge}
        />
      ) : null}
    </>
  );
}

/** Returns how the dialog shows a value; undefined for values that it shows as they are. */
function shownValue(field: string, value: unknown): string | undefined {
  if (field.startsWith("tools.")) return shownTool(value as Tool | undefined);
  return field === "max_cost_micros" && typeof value === "number"
    ? `${writeDollars(value)} dollars`
    : undefined;
}
