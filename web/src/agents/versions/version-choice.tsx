import { ArrowLeftRight } from "lucide-react";
import { Field, IconButton, Select, useChangeSearch } from "../../ui/index.ts";

interface VersionChoiceProps {
  readonly from: number;
  readonly to: number;
  readonly known: readonly number[];
}

/** The fields with which a person chooses the two versions to compare. The choice is in the URL. */
export function VersionChoice({ from, to, known }: VersionChoiceProps) {
  const changeSearch = useChangeSearch();
  const compare = (chosen: { readonly from?: string; readonly to?: string }) =>
    // If the URL does not name the versions yet, the versions that are shown are put into it.
    changeSearch((now) => ({ from: String(from), to: String(to), ...now, ...chosen }));
  const options = [...new Set([...known, from, to])]
    .toSorted((one, other) => other - one)
    .map((version) => ({ value: String(version), label: `Version ${version}` }));
  return (
    <div className="flex items-center gap-1">
      <Field label="Compare version" labelHidden>
        <Select
          value={from}
          options={options}
          onChange={({ target }) => compare({ from: target.value })}
        />
      </Field>
      <IconButton
        icon={ArrowLeftRight}
        label="Swap the versions"
        onClick={() => compare({ from: String(to), to: String(from) })}
      />
      <Field label="With version" labelHidden>
        <Select
          value={to}
          options={options}
          onChange={({ target }) => compare({ to: target.value })}
        />
      </Field>
    </div>
  );
}
