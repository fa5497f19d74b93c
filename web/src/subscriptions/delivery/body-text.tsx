import { JsonTree, parseJson } from "../../json/index.ts";
import { CodeBlock } from "../../ui/index.ts";

interface BodyTextProps {
  readonly label: string;
  readonly text: string;
  readonly fileName?: string;
}

/** A body: JSON as a tree, anything else as text. It is never rendered as HTML. */
export function BodyText({ label, text, fileName }: BodyTextProps) {
  const isObject = /^\s*[[{]/.test(text) && parseJson(text) !== undefined;
  if (isObject) return <JsonTree label={label} source={{ text }} depth={4} fileName={fileName} />;
  return <CodeBlock label={label.toLowerCase()} code={text} variant="wrap" />;
}
