import { type ChangeEvent, type ComponentProps, type ReactNode, useId } from "react";
import { Tooltip } from "../tooltip/tooltip.tsx";

type InputProps = Omit<ComponentProps<"input">, "className" | "style" | "type" | "disabled">;

interface SwitchProps extends InputProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** True while a change is saved: presses are ignored, and the switch keeps the focus. */
  readonly pending?: boolean;
  /** Why the setting cannot be changed. The switch is then disabled, and stays focusable. */
  readonly disabledReason?: string | undefined;
}

/**
 * A switch for a setting that is saved as soon as it is pressed. It always shows `checked`, which
 * the caller changes after the setting is saved.
 */
export function Switch(props: SwitchProps) {
  const { label, hint, pending = false, disabledReason, onChange, ...rest } = props;
  const note = useId();
  const inert = pending || disabledReason !== undefined;
  const change = (event: ChangeEvent<HTMLInputElement>) => {
    if (!inert) onChange?.(event);
  };
  const control = (
    <label className="flex min-w-0 items-start gap-2 has-aria-disabled:cursor-not-allowed has-aria-disabled:text-ink-3">
      <span className="relative inline-flex h-5 items-center">
        <input
          {...rest}
          type="checkbox"
          // biome-ignore lint/a11y/useAriaPropsForRole: `checked` has the effect of aria-checked
          role="switch"
          onChange={change}
          aria-disabled={inert || undefined}
          aria-busy={pending || undefined}
          // The tooltip describes the label, and a screen reader in browse mode does not open it.
          aria-description={disabledReason}
          aria-describedby={hint === undefined ? undefined : note}
          className="peer h-4.5 w-8 appearance-none rounded-full border border-edge bg-well transition-colors checked:border-tide checked:bg-tide aria-disabled:border-rule aria-disabled:bg-page forced-colors:appearance-auto"
        />
        <span className="pointer-events-none absolute left-1 size-2.5 rounded-full bg-ink-3 transition-transform peer-checked:translate-x-3.5 peer-checked:bg-on-tide peer-aria-disabled:bg-rule forced-colors:hidden" />
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
  if (disabledReason === undefined) return control;
  return (
    <Tooltip content={disabledReason} opensOnPress>
      {control}
    </Tooltip>
  );
}
