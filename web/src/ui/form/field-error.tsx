import { CircleAlert } from "lucide-react";

interface FieldErrorProps {
  /** What is wrong and what to do. Nothing is shown without it. */
  readonly message: string | undefined;
  /** For `aria-describedby` of the control. */
  readonly id?: string | undefined;
  /** True for a group, whose controls do not get the focus by themselves: it is announced. */
  readonly isAnnounced?: boolean;
}

/** The error of a field or of a group of fields. */
export function FieldError({ message, id, isAnnounced = false }: FieldErrorProps) {
  return (
    <p
      id={id}
      role={isAnnounced ? "alert" : undefined}
      className="flex items-start gap-1 text-label text-flare empty:hidden"
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
