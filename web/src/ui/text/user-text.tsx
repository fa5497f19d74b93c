interface UserTextProps {
  /** What a person or a program wrote, in any language. */
  readonly text: string;
  /** Shown on hover; the text itself unless given. */
  readonly title?: string | undefined;
}

/** A text of users in one line: its direction is its own, and it ends with an ellipsis. */
export function UserText({ text, title = text }: UserTextProps) {
  return (
    <bdi dir="auto" title={title} className="inline-block max-w-full truncate align-bottom">
      {text}
    </bdi>
  );
}
