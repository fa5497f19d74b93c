import { type ComponentProps, type InputEvent, useCallback } from "react";
import { useControl } from "./field-context.ts";
import { controlLook } from "./look.ts";

interface TextAreaProps extends Omit<ComponentProps<"textarea">, "className" | "style"> {
  readonly mono?: boolean | undefined;
  /** Minimum height in lines. Default 3. */
  readonly rows?: number;
}

const growsItself = typeof CSS !== "undefined" && CSS.supports("field-sizing", "content");

function grow(area: HTMLTextAreaElement): void {
  if (growsItself) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

/**
 * A field for a text of several lines. It grows with the text up to 60 % of the window's height,
 * and then scrolls.
 */
export function TextArea({ mono, rows = 3, id, onInput, ref, ...rest }: TextAreaProps) {
  const control = useControl(id);
  const attach = useCallback(
    (area: HTMLTextAreaElement | null) => {
      if (area !== null) grow(area);
      if (typeof ref === "function") return ref(area);
      if (ref) ref.current = area;
    },
    [ref],
  );
  const input = (event: InputEvent<HTMLTextAreaElement>) => {
    grow(event.currentTarget);
    onInput?.(event);
  };
  return (
    <textarea
      {...control}
      {...rest}
      ref={attach}
      rows={rows}
      onInput={input}
      // With `field-sizing`, browsers ignore `rows`. So the minimum height is set by a style.
      style={{ minHeight: `calc(${rows} * 1.25rem + 0.875rem)` }}
      className={`${controlLook} field-sizing-content resize-y max-h-[60vh] px-2 py-1.5 ${mono ? "font-mono text-dense" : ""}`}
    />
  );
}
