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
  const [draft, setDraft] = useState({ value, typed: value, searched: value });
  // The typed text is replaced if the search changes elsewhere, for example by the Back button.
  // After a search of this field, what was typed since is kept.
  if (draft.value !== value)
    setDraft({ value, typed: value === draft.searched ? draft.typed : value, searched: value });
  const { typed } = draft;
  const search = (text: string, shown: string) => {
    setDraft({ value, typed: shown, searched: text });
    onSearch(text);
  };
  const submit = () => {
    const text = typed.trim();
    if (/^run_[0-9a-hjkmnp-tv-z]{26}$/.test(text)) void navigate({ href: `/w/${id}/runs/${text}` });
    else search(text, typed);
  };
  return (
    <SearchField
      label="Search runs"
      placeholder="Search texts, or paste an id"
      value={typed}
      onChange={(text) => {
        if (text === "") search("", "");
        else setDraft({ ...draft, typed: text });
      }}
      onSubmit={submit}
      slash
    />
  );
}
