import { JsonTree, parseJson } from "../../json/index.ts";
import { CodeBlock } from "../../ui/index.ts";

interface BodyTextProps {
  readonly label: string;
  readonly text: string;
  readonly fileName?: string;
}

/** The body of a request or response: JSON as a tree, anything else as text, never as HTML. */
export function BodyText({ label, text, fileName }: BodyTextProps) {
  const isObject = /^\s*[[{]/.test(text) && parseJson(text) !== undefined;
  if (isObject) return <JsonTree label={label} source={{ text }} depth={4} fileName={fileName} />;
  return <CodeBlock label={label.toLowerCase()} code={text} variant="wrap" />;
}
