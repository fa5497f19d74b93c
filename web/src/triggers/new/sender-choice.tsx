import type { PresetName } from "@beckon/contract";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { FormError, RadioCards, Skeleton } from "../../ui/index.ts";
import { presetsQuery } from "../receiving/queries.ts";
import { shortTitle } from "../receiving/short-title.ts";

interface SenderChoiceProps {
  /** The name of the chosen preset; empty for a trigger without one. */
  readonly value: PresetName | "";
  readonly onChange: (name: PresetName | "") => void;
}

/** The choice of who posts to a new trigger. */
export function SenderChoice({ value, onChange }: SenderChoiceProps) {
  const { data, error } = useQuery(presetsQuery(useWorkspace()));
  if (error !== null) return <FormError error={error} />;
  if (data === undefined)
    return (
      <div className="h-64" aria-busy="true">
        <Skeleton width={40} />
      </div>
    );
  return (
    <RadioCards
      label="Who sends?"
      columns={3}
      density="compact"
      value={value}
      onChange={onChange}
      options={[
        { value: "", label: "Anything" },
        ...data
          // The preset `none` is left out, because it verifies no requests, like "Anything" above.
          // A person can choose it later, in the settings of the trigger.
          .filter(({ name }) => name !== "none")
          .map(({ name, title }) => ({ value: name, label: shortTitle(title) })),
      ]}
    />
  );
}
