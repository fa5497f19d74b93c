import { CircleAlert } from "lucide-react";

interface FieldErrorProps {
  /**
   * What is wrong and what to do; undefined if the field has no error, in which case nothing is
   * shown.
   */
  readonly message: string | undefined;
  /** Id for the control's `aria-describedby`. */
  readonly id?: string | undefined;
  /**
   * True for a group of fields. A single field gets the focus if it has an error, and screen
   * readers then read the error. A group itself gets no focus, so its error is announced.
   */
  readonly isAnnounced?: boolean;
}

/** The error of a field or of a group of fields. */
export function FieldError({ message, id, isAnnounced = false }: FieldErrorProps) {
  return (
    <p
      id={id}
      role={isAnnounced ? "alert" : undefined}
      className="flex max-w-160 items-start gap-1 text-label text-flare empty:hidden"
    >
      {message === undefined ? null : (
        <>
          <CircleAlert aria-hidden />
          <span className="min-w-0 break-words">{message}</span>
        </>
      )}
    </p>
  );
}
