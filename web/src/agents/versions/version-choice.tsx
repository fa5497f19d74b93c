import { useNavigate } from "@tanstack/react-router";
import { ArrowLeftRight } from "lucide-react";
import { Field, IconButton, Select } from "../../ui/index.ts";

interface VersionChoiceProps {
  readonly from: number;
  readonly to: number;
  readonly known: readonly number[];
}

/** The fields with which a person chooses the two versions to compare. The choice is in the URL. */
export function VersionChoice({ from, to, known }: VersionChoiceProps) {
  const navigate = useNavigate();
  const compare = (chosen: { readonly from: number; readonly to: number }) =>
    void navigate({
      to: ".",
      search: { from: String(chosen.from), to: String(chosen.to) },
      replace: true,
    });
  const options = [...new Set([...known, from, to])]
    .toSorted((one, other) => other - one)
    .map((version) => ({ value: String(version), label: `Version ${version}` }));
  return (
    <div className="flex items-center gap-1">
      <Field label="Compare version" labelHidden>
        <Select
          value={from}
          options={options}
          onChange={({ target }) => compare({ from: Number(target.value), to })}
        />
      </Field>
      <IconButton
        icon={ArrowLeftRight}
        label="Swap the versions"
        onClick={() => compare({ from: to, to: from })}
      />
      <Field label="With version" labelHidden>
        <Select
          value={to}
          options={options}
          onChange={({ target }) => compare({ from, to: Number(target.value) })}
        />
      </Field>
    </div>
  );
}
