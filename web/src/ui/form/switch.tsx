import { type ComponentProps, type ReactNode, useId } from "react";

interface SwitchProps extends Omit<ComponentProps<"input">, "className" | "style" | "type"> {
  readonly label: string;
  readonly hint?: ReactNode;
}

/**
 * A switch for a setting that is saved as soon as it is pressed. It always shows `checked`, which
 * the caller changes after the setting is saved.
 */
export function Switch({ label, hint, ...rest }: SwitchProps) {
  const note = useId();
  return (
    <label className="flex min-w-0 items-start gap-2 has-disabled:cursor-not-allowed has-disabled:text-ink-3">
      <span className="relative inline-flex h-5 items-center">
        <input
          {...rest}
          type="checkbox"
          // biome-ignore lint/a11y/useAriaPropsForRole: `checked` has the effect of aria-checked
          role="switch"
          aria-describedby={hint === undefined ? undefined : note}
          className="peer h-4.5 w-8 appearance-none rounded-full border border-edge bg-well transition-colors checked:border-tide checked:bg-tide disabled:border-rule disabled:bg-page forced-colors:appearance-auto"
        />
        <span className="pointer-events-none absolute left-1 size-2.5 rounded-full bg-ink-3 transition-transform peer-checked:translate-x-3.5 peer-checked:bg-on-tide peer-disabled:bg-rule forced-colors:hidden" />
      </span>
      <span className="flex min-w-0 flex-col">
        {label}
        {hint === undefined ? null : (
          <span id={note} className="text-label text-ink-3">
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}
