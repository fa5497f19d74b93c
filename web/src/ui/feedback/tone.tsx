import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";

/** Kind of a message. */
export type Tone = "info" | "success" | "warning" | "failure";

const icons = {
  info: { Icon: Info, colour: "text-tide", word: "Note" },
  success: { Icon: CircleCheck, colour: "text-moss", word: "Done" },
  warning: { Icon: TriangleAlert, colour: "text-brass", word: "Warning" },
  failure: { Icon: CircleAlert, colour: "text-flare", word: "Error" },
};

/** The icon of a kind of message, with its name for screen readers. */
export function ToneIcon({ tone }: { readonly tone: Tone }) {
  const { Icon, colour, word } = icons[tone];
  return (
    <span className={`inline-flex h-5 shrink-0 items-center ${colour}`}>
      <Icon aria-hidden />
      <span className="sr-only">{`${word}: `}</span>
    </span>
  );
}
