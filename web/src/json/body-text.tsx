import { CodeBlock } from "../ui/text/code-block.tsx";
import { JsonTree } from "./json-tree.tsx";
import { parseJson } from "./parse.ts";

interface BodyTextProps {
  readonly label: string;
  readonly text: string;
  /** Levels of JSON that are open at first. */
  readonly depth: number;
  /** Name of the file to download, if it is JSON; undefined for no download. */
  readonly fileName?: string;
}

/** The body of a request or response: JSON as a tree, anything else as text, never as HTML. */
export function BodyText({ label, text, depth, fileName }: BodyTextProps) {
  const isObject = /^\s*[[{]/.test(text) && parseJson(text) !== undefined;
  if (isObject)
    return <JsonTree label={label} source={{ text }} depth={depth} fileName={fileName} />;
  return <CodeBlock label={label.toLowerCase()} code={text} variant="wrap" />;
}
