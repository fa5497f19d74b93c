interface SegmentedControlProps<Value extends string> {
  /** Accessible name: "Show as". */
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/**
 * A row of two to four buttons that switch between views. The button of the current view is shown
 * as pressed.
 */
export function SegmentedControl<Value extends string>({
  label,
  options,
  value,
  onChange,
}: SegmentedControlProps<Value>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset cannot be laid out
    <div
      role="group"
      aria-label={label}
      className="inline-flex shrink-0 rounded-control border border-edge bg-well"
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="-m-px h-control-small rounded-control border border-transparent px-2 text-dense text-ink-2 hover:text-ink aria-pressed:border-edge aria-pressed:bg-sheet aria-pressed:font-semibold aria-pressed:text-ink"
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
