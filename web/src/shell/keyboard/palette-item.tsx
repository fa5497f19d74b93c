import { Command } from "cmdk";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Kbd } from "../../ui/index.ts";

interface PaletteItemProps {
  /** The text with which the typed text is compared. */
  readonly value: string;
  readonly keywords?: string[];
  readonly icon?: LucideIcon;
  /**
   * The keyboard shortcut for the same action, its keys separated by spaces; undefined for none.
   */
  readonly keys?: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

/** A line of the palette. */
export function PaletteItem({
  value,
  keywords,
  icon: Icon,
  keys,
  onSelect,
  children,
}: PaletteItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      {...(keywords === undefined ? {} : { keywords })}
      className="flex h-row cursor-default items-center gap-2 rounded-control px-2 data-[selected=true]:bg-pick"
    >
      {Icon === undefined ? null : <Icon aria-hidden />}
      <span className="flex min-w-0 flex-1 gap-2">{children}</span>
      {keys === undefined ? null : (
        <span className="flex gap-1">
          {keys.split(" ").map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
        </span>
      )}
    </Command.Item>
  );
}
