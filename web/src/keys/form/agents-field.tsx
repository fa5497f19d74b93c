import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { messageOf, useList, useWorkspace } from "../../data/index.ts";
import {
  Checkbox,
  FieldError,
  LoadMore,
  Problem,
  RadioCards,
  ScrollRegion,
  SearchField,
} from "../../ui/index.ts";
import { choosableAgentsQuery } from "../queries.ts";
import type { KeyFields } from "./key-fields.ts";
import { useFocusOnError } from "./use-focus-on-error.ts";

/** The field that chooses whether the key is for all agents or for some, and for which. */
export function AgentsField({ form }: { readonly form: UseFormReturn<KeyFields> }) {
  const { watch, setValue } = form;
  const isLimited = watch("isLimited");
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
      {isLimited ? <AgentChoice form={form} /> : null}
    </div>
  );
}

/** From this number of agents on, the list can be searched. */
const searchedFrom = 9;

function AgentChoice({ form }: { readonly form: UseFormReturn<KeyFields> }) {
  const [text, setText] = useState("");
  const agents = useList(choosableAgentsQuery(useWorkspace()));
  const { watch, setValue, formState } = form;
  const chosen = watch("agentIds");
  const error = messageOf(formState.errors.agentIds);
  // Only the first invalid field is focused, and the name is before this one.
  const isFirst = formState.errors.name === undefined;
  const choice = useFocusOnError(isFirst ? error : undefined, formState.submitCount);
  const shown = agents.rows.filter(({ name }) =>
    name.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const toggle = (id: string) =>
    setValue(
      "agentIds",
      chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id],
      { shouldDirty: true, shouldValidate: formState.isSubmitted },
    );
  if (agents.error !== null)
    return (
      <Problem error={agents.error} title="Agents could not be loaded." onRetry={agents.refetch} />
    );
  return (
    <fieldset ref={choice} className="flex min-w-0 flex-col gap-2" aria-describedby="agents-error">
      <legend className="sr-only">Agents of the key</legend>
      <FieldError id="agents-error" message={error} isAnnounced />
      {agents.rows.length < searchedFrom ? null : (
        <SearchField
          label="Search agents"
          placeholder="Search agents"
          value={text}
          onChange={setText}
        />
      )}
      <div className="rounded-control border border-rule">
        <ScrollRegion label="Agents" variant="bounded">
          <div className="flex flex-col gap-2 p-3">
            {shown.map((agent) => (
              <Checkbox
                key={agent.id}
                label={agent.name}
                checked={chosen.includes(agent.id)}
                onChange={() => toggle(agent.id)}
              />
            ))}
            {shown.length > 0 || agents.isPending ? null : (
              <p className="text-ink-2">
                {agents.rows.length === 0
                  ? "This workspace has no agents yet."
                  : "No agent has this in its name."}
              </p>
            )}
            {agents.hasNextPage ? (
              <LoadMore
                loading={agents.isFetchingNextPage}
                onLoadMore={() => void agents.fetchNextPage()}
              />
            ) : null}
          </div>
        </ScrollRegion>
      </div>
    </fieldset>
  );
}
