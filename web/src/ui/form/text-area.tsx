import { type ComponentProps, type InputEvent, useCallback, useLayoutEffect, useRef } from "react";
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
  const readOnly = control["aria-disabled"] || rest.readOnly;
  const area = useRef<HTMLTextAreaElement>(null);
  /** The text for which the field has its height. */
  const fitted = useRef<string>(undefined);
  const attach = useCallback(
    (element: HTMLTextAreaElement | null) => {
      area.current = element;
      if (typeof ref === "function") return ref(element);
      if (ref) ref.current = element;
    },
    [ref],
  );
  // Forms also set the text, when the field is attached and in renderings. A height that the person
  // has set is kept while the text is the same.
  useLayoutEffect(() => {
    if (area.current === null || area.current.value === fitted.current) return;
    fitted.current = area.current.value;
    grow(area.current);
  });
  const input = (event: InputEvent<HTMLTextAreaElement>) => {
    grow(event.currentTarget);
    onInput?.(event);
  };
  return (
    <textarea
      {...control}
      {...rest}
      ref={attach}
      readOnly={readOnly}
      rows={rows}
      onInput={input}
      // With `field-sizing`, browsers ignore `rows`. So the minimum height is set by a style.
      style={{ minHeight: `calc(${rows} * 1.25rem + 0.875rem)` }}
      className={`${controlLook} field-sizing-content resize-y max-h-[60vh] px-2 py-1.5 ${mono ? "font-mono text-dense" : ""}`}
    />
  );
}
