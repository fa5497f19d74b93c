import type { ComponentProps } from "react";
import { Field, TextArea } from "../../ui/index.ts";

/** What is wrong, and at which line; the line is null if it is not known. */
interface Mistake {
  readonly message: string;
  readonly line: number | null;
}

interface LineAreaProps
  extends Pick<ComponentProps<typeof TextArea>, "onChange" | "readOnly" | "placeholder"> {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** True to mark the field as optional. */
  readonly optional?: boolean;
  readonly rows: number;
  readonly mistake: Mistake | undefined;
  /**
   * Why the saved text failed for the last received request; undefined if it did not. In contrast,
   * `mistake` is what is wrong with the text that the field contains now.
   */
  readonly warning: Mistake | undefined;
}

/** A field for code, which shows a mistake together with the line that it is in. */
export function LineArea({
  label,
  hint,
  mistake,
  warning,
  optional,
  rows,
  ...rest
}: LineAreaProps) {
  const line = mistake?.line ?? null;
  const text = line === null ? undefined : rest.value.split("\n")[line - 1];
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Field
        label={label}
        optional={optional}
        hint={hint}
        error={mistake && messageOf(mistake)}
        warning={
          warning && `Saved, but it fails for the last received request. ${messageOf(warning)}`
        }
      >
        <TextArea {...rest} mono rows={rows} spellCheck={false} autoComplete="off" dir="ltr" />
      </Field>
      {text === undefined || line === null ? null : (
        <div className="flex min-w-0 items-baseline gap-3 rounded-control bg-flare-soft px-2 py-1 font-mono text-dense">
          <span className="shrink-0 text-flare">{line}</span>
          <code className="min-w-0 overflow-x-auto whitespace-pre">{text === "" ? " " : text}</code>
        </div>
      )}
    </div>
  );
}

function messageOf({ message, line }: Mistake): string {
  return line === null ? message : `Line ${line}: ${message}`;
}
