import { useEffect, useRef } from "react";

/** A field with an error, to jump to. */
export interface FieldError {
  /** Id of the control, as given to Field. */
  readonly id: string;
  readonly label: string;
  readonly message: string;
}

interface FormErrorProps {
  /** What happened and what to do, e.g. the server's sentence. */
  readonly message?: string | undefined;
  readonly fields?: readonly FieldError[] | undefined;
}

/** Why a form was not saved, with links to its fields. Empty without a message and fields. */
export function FormError({ message, fields = [] }: FormErrorProps) {
  const box = useRef<HTMLDivElement>(null);
  const shown = message !== undefined || fields.length > 0;
  useEffect(() => {
    if (shown) box.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  return (
    // Always there, so that screen readers announce what appears in it; without a gap around it.
    <div role="alert" ref={box} className="empty:absolute">
      {shown ? (
        <div className="flex flex-col gap-1 rounded-control border border-flare bg-flare-soft px-3 py-2">
          <p className="font-semibold text-flare">
            {message ??
              (fields.length === 1
                ? "One field needs a change."
                : `${fields.length} fields need a change.`)}
          </p>
          {fields.length === 0 ? null : (
            <ul className="flex flex-col text-dense">
              {fields.map((field) => (
                <li key={field.id}>
                  <button
                    type="button"
                    onClick={() => document.getElementById(field.id)?.focus()}
                    className="rounded-bar text-left underline underline-offset-3"
                  >
                    {field.label}
                  </button>
                  {`: ${field.message}`}
                </li>
              ))}
            </ul>
          )}
        </div>
      ) : null}
    </div>
  );
}
