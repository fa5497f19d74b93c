import { useMemo } from "react";
import { JsonTree, parseJson } from "../../json/index.ts";
import { Markdown } from "../../markdown/index.ts";
import { LongText, SegmentedControl } from "../../ui/index.ts";
import type { TextView } from "./run-search.ts";

const options = [
  { value: "rendered", label: "Rendered" },
  { value: "text", label: "Text" },
  { value: "json", label: "JSON" },
] as const;

interface ViewSwitchProps {
  readonly value: TextView;
  readonly onChange: (view: TextView) => void;
}

/** The buttons that switch how texts are shown. */
export function ViewSwitch({ value, onChange }: ViewSwitchProps) {
  return (
    <SegmentedControl label="Show texts as" options={options} value={value} onChange={onChange} />
  );
}

/**
 * JSON with at most this many characters is shown without tools for search, copying and folding.
 */
const maxSmall = 600;

interface SmartTextProps {
  readonly label: string;
  readonly text: string;
  readonly view: TextView;
}

/**
 * A text, shown as Markdown, unchanged, or as JSON. A JSON object or array is shown as a tree
 * even in the view `rendered`, because it is not readable as Markdown.
 */
export function SmartText({ label, text, view }: SmartTextProps) {
  // The page of a run is rendered many times per second, and a text can have megabytes.
  const json = useMemo(
    () => (view !== "text" && /^\s*[[{]/.test(text) ? parseJson(text) : undefined),
    [text, view],
  );
  if (text === "") return <p className="text-ink-3">Empty</p>;
  if (view === "text") return <LongText text={text} />;
  if (view === "json" || json !== undefined)
    return (
      <JsonTree
        label={label}
        source={{ value: json ?? text }}
        tools={text.length > maxSmall ? "all" : "none"}
      />
    );
  return <Markdown text={text} />;
}

/** A value of a tool: its arguments or result. */
export function SmartValue({
  label,
  value,
  view,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly view: TextView;
}) {
  const text = useMemo(
    () => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "")),
    [value],
  );
  if (value === undefined) return <p className="text-ink-3">None</p>;
  if (typeof value === "string") return <SmartText label={label} text={value} view={view} />;
  if (view === "text") return <LongText text={text} variant="code" />;
  return (
    <JsonTree label={label} source={{ value }} tools={text.length > maxSmall ? "all" : "none"} />
  );
}
