import { TriangleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";
import { FieldContext } from "./field-context.ts";
import { FieldError } from "./field-error.tsx";

interface FieldProps {
  readonly label: string;
  /** Help below the control, one sentence. */
  readonly hint?: ReactNode;
  /** What is wrong and what to do; undefined if nothing is wrong. It replaces the hint. */
  readonly error?: string | undefined;
  /**
   * A problem of the value that did not prevent saving. It is shown below the hint or error, and
   * screen readers announce it.
   */
  readonly warning?: string | undefined;
  /**
   * True to show "optional" beside the label. Required fields have no mark, because most fields are
   * required.
   */
  readonly optional?: boolean | undefined;
  /**
   * True to hide the label visually, where the context makes it clear, for example in a toolbar.
   */
  readonly labelHidden?: boolean | undefined;
  /** Shown at the end of the label's line, for example a counter or a link. */
  readonly aside?: ReactNode;
  /** Id of the control, so that a summary of errors can focus it. Default: a generated id. */
  readonly id?: string | undefined;
  /** One control: TextInput, TextArea, Select, … */
  readonly children: ReactNode;
}

/** A control with its label, hint and error, which are connected for assistive technology. */
export function Field({
  label,
  hint,
  error,
  warning,
  optional,
  labelHidden,
  aside,
  id,
  children,
}: FieldProps) {
  const made = useId();
  const control = id ?? made;
  const note = `${control}-note`;
  const warningNote = `${control}-warning`;
  const hasNote = error !== undefined || hint !== undefined;
  const notes = [...(hasNote ? [note] : []), ...(warning === undefined ? [] : [warningNote])];
  return (
    <FieldContext
      value={{
        id: control,
        describedBy: notes.join(" ") || undefined,
        invalid: error !== undefined,
      }}
    >
      <div className="flex min-w-0 flex-col gap-1">
        <div className={labelHidden ? "sr-only" : "flex items-baseline gap-2"}>
          <label htmlFor={control} className="text-label font-semibold text-ink-2">
            {label}
          </label>
          {optional ? <span className="text-label text-ink-3">optional</span> : null}
          {aside === undefined ? null : (
            <span className="ml-auto text-label text-ink-3">{aside}</span>
          )}
        </div>
        {children}
        {hasNote ? <FieldNote id={note} error={error} hint={hint} /> : null}
        {warning === undefined ? null : (
          <p
            id={warningNote}
            role="status"
            className="flex min-w-0 items-start gap-1 text-label text-brass"
          >
            <TriangleAlert aria-hidden />
            <span className="min-w-0 break-words">{warning}</span>
          </p>
        )}
      </div>
    </FieldContext>
  );
}

interface FieldNoteProps {
  readonly id: string;
  readonly error: string | undefined;
  readonly hint: ReactNode;
}

function FieldNote({ id, error, hint }: FieldNoteProps) {
  if (error !== undefined) return <FieldError id={id} message={error} />;
  return (
    <p id={id} className="max-w-160 text-label text-ink-3">
      {hint}
    </p>
  );
}
