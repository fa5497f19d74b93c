import { Check, type LucideIcon } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { type ComponentProps, type ReactElement, type RefObject, useRef } from "react";
import { Anchor } from "../link.tsx";
import { Kbd } from "../text/kbd.tsx";
import { keepFocus, useClosingOpener } from "./use-focus-return.ts";

/** An item of a menu. It has either `onSelect` or `href`. */
export interface MenuAction {
  readonly label: string;
  readonly icon?: LucideIcon | undefined;
  readonly onSelect?: (() => void) | undefined;
  readonly href?: string | undefined;
  /**
   * Set for an item with a checkbox: whether it is checked. Undefined: the item has no checkbox.
   */
  readonly checked?: boolean | undefined;
  readonly danger?: boolean | undefined;
  /** Why the action is not allowed, shown below the label; undefined if it is allowed. */
  readonly disabledReason?: string | undefined;
  /** Keyboard shortcut, for example "E". The menu only shows it; the screen handles the keys. */
  readonly shortcut?: string | undefined;
}

/** A line of a menu. */
export type MenuItem = MenuAction | { readonly heading: string } | "separator";

/** Properties of `Menu`. */
export interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<ComponentProps<"button">>;
  /** Accessible name. */
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly align?: "start" | "end";
}

interface MenuPanelProps extends MenuProps {
  /**
   * How the menu's button was pressed before this code was loaded. The menu then opens at once.
   * Undefined if it was not pressed.
   */
  readonly pressedBy: "pointer" | "key" | undefined;
}

const line =
  "flex min-h-8 cursor-default select-none items-center gap-2 rounded-control px-2 py-1 " +
  "outline-none data-highlighted:bg-hover data-disabled:text-ink-3";

/** The implementation of `Menu`, loaded after the first paint. */
export function MenuPanel({ trigger, label, items, align = "end", pressedBy }: MenuPanelProps) {
  // Radix focuses the first item of a menu that is opened by a key, but not if the key was pressed
  // before Radix was loaded. In that case, `onFocus` below does it.
  const mustFocus = useRef(pressedBy === "key");
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Radix.Root modal={false} defaultOpen={pressedBy !== undefined}>
      <Radix.Trigger asChild ref={button}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          onFocus={({ currentTarget }) => {
            if (!mustFocus.current) return;
            mustFocus.current = false;
            currentTarget
              .querySelector<HTMLElement>("[role^=menuitem]:not([data-disabled])")
              ?.focus();
          }}
          onCloseAutoFocus={keepFocus}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 animate-popup overflow-auto rounded-popup border border-rule bg-sheet p-1 text-body shadow-popup"
        >
          <ClosingOpener opener={button} />
          {items.map((item, index) => (
            <MenuLine key={keyOf(item, index)} item={item} />
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** For a dialog that an item of the menu opens. */
function ClosingOpener({ opener }: { readonly opener: RefObject<HTMLElement | null> }) {
  useClosingOpener(opener);
  return null;
}

function keyOf(item: MenuItem, index: number): string {
  if (item === "separator") return `separator ${index}`;
  return "heading" in item ? `heading ${item.heading}` : item.label;
}

function MenuLine({ item }: { readonly item: MenuItem }) {
  if (item === "separator") return <Radix.Separator className="-mx-1 my-1 h-px bg-rule" />;
  if ("heading" in item)
    return (
      <Radix.Label className="px-2 pt-2 pb-1 text-label text-ink-3">{item.heading}</Radix.Label>
    );
  const disabled = item.disabledReason !== undefined;
  const colour = item.danger && !disabled ? "text-flare" : "";
  if (item.checked !== undefined)
    return (
      <Radix.CheckboxItem
        checked={item.checked}
        disabled={disabled}
        onSelect={(event) => {
          // The menu stays open, because several checkboxes are often changed at once.
          event.preventDefault();
          item.onSelect?.();
        }}
        className={`${line} ${colour}`}
      >
        <span className="inline-flex size-4">{item.checked ? <Check aria-hidden /> : null}</span>
        <MenuText item={item} />
      </Radix.CheckboxItem>
    );
  const content = (
    <>
      {item.icon === undefined ? null : <item.icon aria-hidden />}
      <MenuText item={item} />
    </>
  );
  if (item.href !== undefined && !disabled)
    return (
      <Radix.Item asChild className={`${line} ${colour}`}>
        <Anchor href={item.href}>{content}</Anchor>
      </Radix.Item>
    );
  return (
    <Radix.Item
      disabled={disabled}
      onSelect={() => item.onSelect?.()}
      className={`${line} ${colour}`}
    >
      {content}
    </Radix.Item>
  );
}

function MenuText({ item }: { readonly item: MenuAction }) {
  return (
    <>
      <span className="min-w-0 flex-1">
        <span className="block truncate">{item.label}</span>
        {item.disabledReason === undefined ? null : (
          <span className="block text-label">{item.disabledReason}</span>
        )}
      </span>
      {item.shortcut === undefined ? null : <Kbd>{item.shortcut}</Kbd>}
    </>
  );
}
