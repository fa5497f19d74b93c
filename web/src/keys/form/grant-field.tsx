import { ChevronDown, ChevronRight } from "lucide-react";
import type { UseFormReturn } from "react-hook-form";
import { messageOf, useWorkspace } from "../../data/index.ts";
import { Button, RadioCards } from "../../ui/index.ts";
import { whyNotGranted } from "../permission.ts";
import { presetNames, presetTexts, scopesOfPreset } from "../scopes.ts";
import type { KeyFields } from "./key-fields.ts";
import { ScopesField } from "./scopes-field.tsx";

interface GrantFieldProps {
  readonly form: UseFormReturn<KeyFields>;
  readonly onChoose: (grant: KeyFields["grant"]) => void;
}

/** The field for the permissions of a key: a preset, or single scopes. */
export function GrantField({ form, onChoose }: GrantFieldProps) {
  const { can } = useWorkspace();
  const { watch, setValue, clearErrors, formState } = form;
  const [grant, scopes, isLimited] = watch(["grant", "scopes", "isLimited"]);
  const choose = (chosen: KeyFields["grant"]) => {
    clearErrors("scopes");
    // When the person switches from a preset to single scopes, the scopes of the preset are chosen
    // at first.
    if (chosen === "scopes" && grant !== "scopes" && scopes.length === 0)
      setValue("scopes", scopesOfPreset(grant, isLimited).filter(can));
    setValue("grant", chosen, { shouldDirty: true });
    onChoose(chosen);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <RadioCards
        label="What can it do?"
        columns={2}
        value={grant === "scopes" ? undefined : grant}
        onChange={choose}
        error={messageOf(formState.errors.grant)}
        options={presetNames.map((preset) => ({
          value: preset,
          ...presetTexts[preset],
          disabledReason: whyNotGranted(scopesOfPreset(preset, isLimited), can),
        }))}
      />
      <div className="flex">
        <Button
          size="small"
          variant="quiet"
          icon={grant === "scopes" ? ChevronDown : ChevronRight}
          aria-expanded={grant === "scopes"}
          onClick={() => choose(grant === "scopes" ? "invoke" : "scopes")}
        >
          Choose scopes
        </Button>
      </div>
      {grant === "scopes" ? <ScopesField form={form} /> : null}
    </div>
  );
}
