import { useQuery } from "@tanstack/react-query";
import { type Ref, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { modelsQuery } from "../../providers/index.ts";
import { Field, Select, type SelectGroup, TextInput } from "../../ui/index.ts";

interface ModelFieldProps {
  readonly value: string;
  readonly onChange: (model: string) => void;
  readonly onBlur: () => void;
  readonly error: string | undefined;
  readonly ref: Ref<HTMLElement>;
}

/** Choice that leads to a field for a model's name. No model has a name without a slash. */
const typed = "typed";

/** Chooses a model of the workspace's providers, or takes a typed name. */
export function ModelField({ value, onChange, onBlur, error, ref }: ModelFieldProps) {
  const { data: lists = [], isPending } = useQuery(modelsQuery(useWorkspace()));
  const [isTyped, setTyped] = useState(false);
  const groups: SelectGroup[] = lists
    .filter(({ models }) => models.length > 0)
    .map(({ provider, models }) => ({
      group: provider,
      options: models.map((model) => ({ value: model, label: model })),
    }));
  const isListed = lists.some(({ models }) => models.includes(value));
  const failed = lists.filter((list) => list.error !== null).map(({ provider }) => provider);
  const hint =
    failed.length === 0
      ? undefined
      : `The models of ${failed.join(", ")} could not be listed. You can type a name.`;
  const choose = (chosen: string) => {
    setTyped(chosen === typed);
    onChange(chosen === typed ? "" : chosen);
  };
  if (isTyped)
    return (
      <Field
        label="Model"
        error={error}
        hint="provider/model, as in openai/gpt-5"
        aside={
          <button
            type="button"
            onClick={() => choose(lists[0]?.models[0] ?? "")}
            className="rounded-bar text-tide underline underline-offset-3"
          >
            Choose from the list
          </button>
        }
      >
        <TextInput
          ref={ref as Ref<HTMLInputElement>}
          mono
          autoFocus
          value={value}
          onChange={({ target }) => onChange(target.value)}
          onBlur={onBlur}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
    );
  return (
    <Field label="Model" error={error} hint={hint}>
      <Select
        ref={ref as Ref<HTMLSelectElement>}
        value={value}
        onChange={({ target }) => choose(target.value)}
        onBlur={onBlur}
        options={[
          ...(isListed || value === "" ? [] : [{ value, label: value }]),
          ...groups,
          { value: typed, label: "Another model…" },
        ]}
        placeholder={value !== "" ? undefined : isPending ? "Loading models…" : "Choose a model"}
      />
    </Field>
  );
}
