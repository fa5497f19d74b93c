import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { messageOf, useWorkspace } from "../../data/index.ts";
import { formatCounted } from "../../format/index.ts";
import { Button, RadioCards } from "../../ui/index.ts";
import { whyNotGranted } from "../permission.ts";
import { type Preset, presetNames, presetTexts, scopesOfPreset } from "../scopes.ts";
import { type KeyFields, scopesIn } from "./key-fields.ts";
import { ScopesField } from "./scopes-field.tsx";

interface GrantFieldProps {
  readonly form: UseFormReturn<KeyFields>;
  /** Called with the preset that the person has chosen. */
  readonly onChoose: (preset: Preset) => void;
}

/**
 * The field for the permissions of a key: a preset, or single scopes. Showing or hiding the list of
 * scopes changes nothing; changing a scope in it leaves the preset.
 */
export function GrantField({ form, onChoose }: GrantFieldProps) {
  const workspace = useWorkspace();
  const { watch, setValue, clearErrors, formState } = form;
  const [grant, scopes, isLimited] = watch(["grant", "scopes", "isLimited"]);
  const isCustom = grant === "scopes";
  const [isOpen, setIsOpen] = useState(isCustom);
  // The error is shown in the list of scopes.
  if (formState.errors.scopes !== undefined && !isOpen) setIsOpen(true);
  const choose = (chosen: Preset) => {
    clearErrors("scopes");
    setValue("grant", chosen, { shouldDirty: true });
    onChoose(chosen);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <RadioCards
        label="What can it do?"
        columns={2}
        value={isCustom ? undefined : grant}
        onChange={choose}
        error={messageOf(formState.errors.grant)}
        options={presetNames.map((preset) => ({
          value: preset,
          ...presetTexts[preset],
          disabledReason: whyNotGranted(scopesOfPreset(preset, isLimited), workspace),
        }))}
      />
      <div className="flex items-center gap-3">
        <Button
          size="small"
          variant="quiet"
          icon={isOpen ? ChevronDown : ChevronRight}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Choose scopes
        </Button>
        {isCustom && !isOpen ? (
          <span className="text-dense text-ink-2">
            {formatCounted(scopesIn({ grant, scopes, isLimited }).length, "scope")}
          </span>
        ) : null}
      </div>
      {isOpen ? <ScopesField form={form} /> : null}
    </div>
  );
}
