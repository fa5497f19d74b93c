import type { ComponentProps } from "react";

interface ValueButtonProps extends Omit<ComponentProps<"button">, "className" | "style"> {
  /** Accessible name. */
  readonly label: string;
}

/** A button in a row that shows a value in short. It opens a popover with the whole value. */
export function ValueButton({ label, children, ...rest }: ValueButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      aria-label={label}
      className="relative z-1 max-w-full truncate rounded-bar py-0.5 text-left underline decoration-dotted underline-offset-3 hover:text-tide"
    >
      {children}
    </button>
  );
}
