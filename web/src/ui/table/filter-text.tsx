import { type FormEvent, useState } from "react";
import { Button } from "../action/button.tsx";
import { TextInput } from "../form/text-input.tsx";
import type { FilterDefinition } from "./filter.ts";

interface FilterTextProps {
  readonly filter: FilterDefinition;
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** A filter that takes a text. */
export function FilterText({ filter, value, onChoose }: FilterTextProps) {
  const [text, setText] = useState(value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") onChoose(text.trim());
  };
  return (
    <form onSubmit={submit} className="flex gap-2 p-1">
      <TextInput
        aria-label={filter.label}
        placeholder={filter.placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </form>
  );
}
