import { JsonTree, parseJson } from "../../json/index.ts";
import { LongText } from "../../ui/index.ts";

interface BodyTextProps {
  readonly label: string;
  readonly text: string;
  readonly fileName?: string;
}

/** A body: JSON as a tree, anything else as text. It is never rendered as a page. */
export function BodyText({ label, text, fileName }: BodyTextProps) {
  const isObject = /^\s*[[{]/.test(text) && parseJson(text) !== undefined;
  if (isObject) return <JsonTree label={label} source={{ text }} depth={4} fileName={fileName} />;
  return (
    <div className="min-w-0 rounded-control border border-rule bg-well px-3 py-2">
      <LongText text={text} variant="code" />
    </div>
  );
}
