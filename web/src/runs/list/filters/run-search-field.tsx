import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWorkspace } from "../../../data/index.ts";
import { SearchField } from "../../../ui/index.ts";

interface RunSearchFieldProps {
  /** The text that is searched for. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

/** A search field for the texts of runs. If the text is the id of a run, the run is opened. */
export function RunSearchField({ value, onSearch }: RunSearchFieldProps) {
  const { id } = useWorkspace();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(value);
  const submit = () => {
    const text = typed.trim();
    if (/^run_[0-9a-hjkmnp-tv-z]{26}$/.test(text)) void navigate({ href: `/w/${id}/runs/${text}` });
    else onSearch(text);
  };
  return (
    <SearchField
      label="Search runs"
      placeholder="Search texts, or paste an id"
      value={typed}
      onChange={(text) => {
        setTyped(text);
        if (text === "") onSearch("");
      }}
      onSubmit={submit}
      slash
    />
  );
}
