import { type FormEvent, useEffect, useEffectEvent, useRef } from "react";
import { useFormState } from "react-hook-form";
import { FormError } from "../../ui/index.ts";
import type { FormValues } from "./form-values.ts";
import { InstructionsField } from "./instructions-field.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { MetadataField } from "./metadata-field.tsx";
import { ModelFields } from "./model/model-fields.tsx";
import { NameFields } from "./name-fields.tsx";
import { OtherVersionNotice } from "./other-version-notice.tsx";
import { LayoutContext, type SettingsLayout } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";
import { SettingsSaveBar } from "./settings-save-bar.tsx";
import { ToolFields } from "./tools/tool-fields.tsx";

/** All settings of the agent, with the bar that saves them. */
export function SettingsForm({ layout }: { readonly layout: SettingsLayout }) {
  const { save, problem, disabledReason } = useSettings();
  const box = useRef<HTMLFormElement>(null);
  useFocusFirstError(box);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React also passes the submit events of forms in dialogs to this handler, because the dialogs
    // are rendered inside of this form. Those events are ignored.
    if (event.target === event.currentTarget && disabledReason === undefined) save();
  };
  const isPage = layout === "page";
  return (
    <LayoutContext value={layout}>
      <form
        ref={box}
        noValidate
        onSubmit={submit}
        aria-label="Settings"
        className={`flex flex-col ${isPage ? "flex-1" : "min-h-full"}`}
      >
        <div className={`flex flex-1 flex-col divide-y divide-rule ${isPage ? "max-w-240" : ""}`}>
          <OtherVersionNotice />
          {isPage ? <NameFields /> : null}
          <InstructionsField />
          <ModelFields />
          <ToolFields />
          {isPage ? null : <NameFields />}
          <LimitFields />
          <MetadataField />
        </div>
        <div
          className={problem === undefined ? "" : isPage ? "max-w-240 pb-4" : "px-4 pb-4 md:px-6"}
        >
          <FormError error={problem} />
        </div>
        <SettingsSaveBar />
      </form>
    </LayoutContext>
  );
}

/**
 * Focuses the first field with an error after an attempt to save or run, unless the attempt began
 * before this screen was opened.
 */
function useFocusFirstError(box: React.RefObject<HTMLElement | null>): void {
  const { submitCount, isSubmitting, errors } = useFormState<FormValues>();
  const hasErrors = Object.keys(errors).length > 0;
  const isEarlier = useRef(true);
  const focus = useEffectEvent(() => {
    const mustFocus = hasErrors && !isEarlier.current;
    isEarlier.current = isSubmitting;
    if (!mustFocus) return;
    const first = box.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]');
    first?.focus();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each attempt
  useEffect(() => focus(), [submitCount]);
}
