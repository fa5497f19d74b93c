import { type ReactNode, useId, useState } from "react";
import { Button } from "../action/button.tsx";
import { radioLook } from "../form/look.ts";
import { Dialog } from "./dialog.tsx";
import { type Fields, type MergeConflict, mergeFields, withField } from "./merge.ts";

/** Properties of `MergeDialog`. */
export interface MergeDialogProps<Value extends Fields> {
  /** Noun of the resource: "agent". */
  readonly noun: string;
  /** The values with which the form was filled in. */
  readonly base: Value;
  /** The current values on the server, read after the 412. */
  readonly theirs: Value;
  /** What the form holds. */
  readonly yours: Value;
  /**
   * Names of fields that contain an object. The objects are merged field by field. Default: none.
   */
  readonly parts?: readonly string[];
  /**
   * Labels of fields, as the form shows them. A field of one of the `parts` is named with its part,
   * such as `receiving.filter`. Fields without a label show their name.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Renders a value. If it is absent or returns null or undefined, the default is used: "(empty)"
   * for an empty text, null or undefined, other texts unchanged, and other values as JSON.
   */
  readonly show?: (field: string, value: unknown) => ReactNode;
  /** Called with all fields once each conflict has a choice. Save them with the new ETag. */
  readonly onMerge: (merged: Value) => void;
  readonly onCancel: () => void;
}

type Side = "theirs" | "yours";

/** The implementation of `MergeDialog`, loaded when it is needed. */
export function MergePanel<Value extends Fields>({
  noun,
  base,
  theirs,
  yours,
  parts = [],
  labels,
  show,
  onMerge,
  onCancel,
}: MergeDialogProps<Value>) {
  const { merged, conflicts } = mergeFields(base, theirs, yours, parts);
  const [sides, setSides] = useState<Readonly<Record<string, Side>>>({});
  const open = conflicts.filter(({ field }) => sides[field] === undefined).length;
  const apply = () => {
    const chosen = conflicts.reduce(
      (fields, { field, yours: mine, theirs: other }) =>
        withField(fields, field, sides[field] === "yours" ? mine : other),
      merged,
    );
    // The cast is safe, because every field comes from `theirs` or `yours`, which have this type.
    onMerge(chosen as Value);
  };
  return (
    <Dialog
      open
      size="large"
      onOpenChange={onCancel}
      title={`Someone else saved this ${noun}`}
      description={
        conflicts.length === 0
          ? "Their changes and yours do not overlap. Save to keep both."
          : "You both changed what is listed here. Choose what to keep; everything else is merged."
      }
      footer={
        <>
          <Button onClick={onCancel}>Back to the form</Button>
          <Button variant="primary" onClick={apply} disabled={open > 0}>
            {open > 0 ? `${open} to choose` : "Save merged"}
          </Button>
        </>
      }
    >
      {conflicts.length === 0 ? undefined : (
        <div className="flex flex-col gap-6">
          {conflicts.map((conflict) => (
            <Choice
              key={conflict.field}
              conflict={conflict}
              label={labels?.[conflict.field] ?? conflict.field}
              side={sides[conflict.field]}
              show={(field, value) => show?.(field, value) ?? showAsText(value)}
              onChoose={(side) => setSides({ ...sides, [conflict.field]: side })}
            />
          ))}
        </div>
      )}
    </Dialog>
  );
}

interface ChoiceProps {
  readonly conflict: MergeConflict;
  readonly label: string;
  readonly side: Side | undefined;
  readonly show: (field: string, value: unknown) => ReactNode;
  readonly onChoose: (side: Side) => void;
}

function Choice({ conflict, label, side, show, onChoose }: ChoiceProps) {
  const name = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="contents font-semibold">{label}</legend>
      <div className="grid grid-cols-1 gap-2 sm:grid-cols-2">
        {(["theirs", "yours"] as const).map((option) => (
          <label
            key={option}
            className="flex min-w-0 flex-col gap-1 rounded-control border border-edge p-2 has-checked:border-tide has-checked:bg-pick has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-tide"
          >
            <span className="flex items-center gap-2 text-label text-ink-2">
              <input
                type="radio"
                name={name}
                className={radioLook}
                checked={side === option}
                onChange={() => onChoose(option)}
              />
              {option === "theirs" ? "Theirs" : "Yours"}
            </span>
            <span className="max-h-60 min-w-0 overflow-auto font-mono text-dense break-words whitespace-pre-wrap">
              {show(conflict.field, conflict[option])}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function showAsText(value: unknown): string {
  if (value === undefined || value === null || value === "") return "(empty)";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
