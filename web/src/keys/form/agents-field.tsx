import type { UseFormReturn } from "react-hook-form";
import { AgentChoice } from "../../agents/index.ts";
import { messageOf } from "../../data/index.ts";
import { RadioCards } from "../../ui/index.ts";
import type { KeyFields } from "./key-fields.ts";

/** The field that chooses whether the key is for all agents or for some, and for which. */
export function AgentsField({ form }: { readonly form: UseFormReturn<KeyFields> }) {
  const { watch, setValue, formState } = form;
  const isLimited = watch("isLimited");
  // The first field with an error gets the focus. The name is above this field, so this field gets
  // the focus only if the name has no error.
  const isFirst = formState.errors.name === undefined;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <RadioCards
        label="For which agents?"
        columns={2}
        density="compact"
        value={isLimited ? "some" : "all"}
        onChange={(value) => setValue("isLimited", value === "some", { shouldDirty: true })}
        options={[
          { value: "all", label: "All, also future ones" },
          { value: "some", label: "Only some agents" },
        ]}
      />
      {isLimited ? (
        <AgentChoice
          label="Agents of the key"
          chosen={watch("agentIds")}
          onChange={(agentIds) =>
            setValue("agentIds", agentIds, {
              shouldDirty: true,
              shouldValidate: formState.isSubmitted,
            })
          }
          error={messageOf(formState.errors.agentIds)}
          submitCount={isFirst ? formState.submitCount : 0}
        />
      ) : null}
    </div>
  );
}
