/** The visual weight of a button. A screen has at most one primary button. */
export type ButtonVariant = "primary" | "secondary" | "quiet" | "danger";
/** `medium` is 32 px high, `small` 28 px; both 44 px for a coarse pointer. */
export type ButtonSize = "small" | "medium";

const base =
  "relative inline-flex shrink-0 select-none items-center justify-center gap-2 " +
  "whitespace-nowrap rounded-control border font-semibold transition-colors " +
  "aria-disabled:cursor-not-allowed disabled:cursor-not-allowed";

const off =
  "aria-disabled:border-rule aria-disabled:bg-transparent aria-disabled:text-ink-3 " +
  "disabled:border-rule disabled:bg-transparent disabled:text-ink-3";

const looks: Record<ButtonVariant, string> = {
  primary: "border-tide bg-tide text-on-tide hover:border-tide-strong hover:bg-tide-strong",
  secondary: "border-edge bg-sheet text-ink hover:bg-hover",
  quiet: "border-transparent text-ink-2 hover:bg-hover hover:text-ink",
  danger: "border-flare bg-sheet text-flare hover:bg-flare hover:text-on-flare",
};

const sizes: Record<ButtonSize, string> = {
  small: "h-control-small px-2 text-dense",
  medium: "h-control px-3 text-body",
};

const squares: Record<ButtonSize, string> = {
  small: "size-control-small",
  medium: "size-control",
};

/** Classes of a button with text. */
export function buttonLook(variant: ButtonVariant, size: ButtonSize): string {
  return `${base} ${looks[variant]} ${off} ${sizes[size]}`;
}

/** Classes of a square button with an icon. */
export function iconButtonLook(size: ButtonSize): string {
  return `${base} ${looks.quiet} ${off} ${squares[size]}`;
}
