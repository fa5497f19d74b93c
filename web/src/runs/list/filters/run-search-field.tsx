import { useNavigate } from "@tanstack/react-router";
import { useWorkspace } from "../../../data/index.ts";
import { SearchField, useTypedSearch } from "../../../ui/index.ts";

interface RunSearchFieldProps {
  /** The text that is searched for. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

/** A search field for the texts of runs. If the text is the id of a run, the run is opened. */
export function RunSearchField({ value, onSearch }: RunSearchFieldProps) {
  const { id } = useWorkspace();
  const navigate = useNavigate();
  const { text, setText, noteSent } = useTypedSearch(value);
  const search = (wanted: string) => {
    noteSent(wanted);
    onSearch(wanted);
  };
  const submit = () => {
    const typed = text.trim();
    if (/^run_[0-9a-hjkmnp-tv-z]{26}$/.test(typed))
      void navigate({ href: `/w/${id}/runs/${typed}` });
    else search(typed);
  };
  return (
    <SearchField
      label="Search runs"
      placeholder="Search texts, or paste an id"
      value={text}
      onChange={(typed) => {
        setText(typed);
        if (typed === "") search("");
      }}
      onSubmit={submit}
      slash
    />
  );
}
