import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { useControl } from "./field-context.ts";
import { controlLook } from "./look.ts";

/**
 * Properties of {@link TextInput}: those of `<input>`, so that the result of React Hook Form's
 * `register` can be passed.
 */
export interface TextInputProps
  extends Omit<ComponentProps<"input">, "className" | "style" | "size" | "prefix"> {
  readonly mono?: boolean | undefined;
  readonly icon?: LucideIcon | undefined;
  /** Unit or action inside the end of the field. */
  readonly suffix?: ReactNode;
}

/** A field of one line. */
export function TextInput({
  mono,
  icon: Icon,
  suffix,
  id,
  type = "text",
  ...rest
}: TextInputProps) {
  const control = useControl(id);
  const readOnly = control["aria-disabled"] || rest.readOnly;
  const text = mono ? "font-mono text-dense" : "";
  const padding = `${Icon ? "pl-8" : "pl-2"} ${suffix === undefined ? "pr-2" : "pr-16"}`;
  const look = `${controlLook} h-control ${text} ${padding}`;
  const input = <input {...control} {...rest} type={type} readOnly={readOnly} className={look} />;
  if (Icon === undefined && suffix === undefined) return input;
  return (
    <span className="relative flex min-w-0 flex-1 items-center">
      {Icon === undefined ? null : (
        <span className="pointer-events-none absolute left-2 inline-flex text-ink-3">
          <Icon aria-hidden />
        </span>
      )}
      {input}
      {suffix === undefined ? null : (
        <span className="absolute right-1 inline-flex items-center gap-1 text-dense text-ink-3">
          {suffix}
        </span>
      )}
    </span>
  );
}
