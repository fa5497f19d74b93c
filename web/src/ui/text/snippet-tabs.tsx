import { Tabs } from "../layout/tabs.tsx";
import { CodeBlock } from "./code-block.tsx";

/** One language of {@link SnippetTabs}. */
export interface Snippet {
  /** Name of the tab: "curl". */
  readonly label: string;
  readonly code: string;
}

interface SnippetTabsProps {
  /** What the snippets do: "Invoke this agent". */
  readonly label: string;
  readonly snippets: readonly Snippet[];
  /** The label of the open tab. */
  readonly value: string;
  readonly onChange: (label: string) => void;
}

/** Tabs with the same call in several languages. */
export function SnippetTabs({ label, snippets, value, onChange }: SnippetTabsProps) {
  return (
    <Tabs
      label={label}
      value={value}
      onChange={onChange}
      items={snippets.map((snippet) => ({
        value: snippet.label,
        label: snippet.label,
        content: <CodeBlock code={snippet.code} label={`${label}: ${snippet.label}`} />,
      }))}
    />
  );
}
