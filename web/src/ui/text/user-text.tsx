interface UserTextProps {
  /** A text of a person or a program, in any language. */
  readonly text: string;
  /** Shown on hover. Default: the text itself. */
  readonly title?: string | undefined;
}

/**
 * A text of users in one line. Its writing direction follows from the text itself, and it is
 * truncated with an ellipsis.
 */
export function UserText({ text, title = text }: UserTextProps) {
  return (
    <bdi dir="auto" title={title} className="inline-block max-w-full truncate align-bottom">
      {text}
    </bdi>
  );
}
