import { AgentChoice } from "../../agents/index.ts";
import { messageOf } from "../../data/index.ts";
import { Field, RadioCards, TextArea } from "../../ui/index.ts";
import type { SubscriptionFormState } from "./subscription-fields.ts";
import { TriggerChoice } from "./trigger-choice.tsx";

/** Fields that select the agents and runs whose events are delivered. */
export function ConditionFields({ form }: { readonly form: SubscriptionFormState }) {
  const { register, watch, setValue, formState } = form;
  const { errors, isSubmitted } = formState;
  const [hasAgents, hasTriggers] = watch(["hasAgents", "hasTriggers"]);
  // Only the first error gets the focus: the URL and the events are above these fields.
  const isFirst = errors.url === undefined && errors.events === undefined;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex min-w-0 flex-col gap-3">
        <RadioCards
          label="Of which agents?"
          columns={2}
          density="compact"
          value={hasAgents ? "some" : "all"}
          onChange={(value) => setValue("hasAgents", value === "some", { shouldDirty: true })}
          options={[
            { value: "all", label: "All, also future ones" },
            { value: "some", label: "Only some agents" },
          ]}
        />
        {hasAgents ? (
          <AgentChoice
            label="Agents of the subscription"
            chosen={watch("agentIds")}
            onChange={(ids) =>
              setValue("agentIds", ids, { shouldDirty: true, shouldValidate: isSubmitted })
            }
            error={messageOf(errors.agentIds)}
            submitCount={isFirst ? formState.submitCount : 0}
          />
        ) : null}
      </div>
      <div className="flex min-w-0 flex-col gap-3">
        <RadioCards
          label="Of which runs?"
          columns={2}
          density="compact"
          value={hasTriggers ? "some" : "all"}
          onChange={(value) => setValue("hasTriggers", value === "some", { shouldDirty: true })}
          options={[
            { value: "all", label: "All, whatever started them" },
            { value: "some", label: "Only those of some triggers" },
          ]}
        />
        {hasTriggers ? (
          <TriggerChoice
            chosen={watch("triggerIds")}
            onChange={(ids) =>
              setValue("triggerIds", ids, { shouldDirty: true, shouldValidate: isSubmitted })
            }
            error={messageOf(errors.triggerIds)}
            submitCount={isFirst && errors.agentIds === undefined ? formState.submitCount : 0}
          />
        ) : null}
      </div>
      <Field
        label="Only runs with one of these tags"
        optional
        error={messageOf(errors.tags)}
        hint="One per line, for example refund. Empty for all runs."
      >
        <TextArea {...register("tags")} rows={2} autoComplete="off" dir="auto" />
      </Field>
    </div>
  );
}
