import { Download } from "lucide-react";
import { useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { CopyButton } from "../ui/action/copy-button.tsx";
import { IconButton } from "../ui/action/icon-button.tsx";
import { useRowHeight } from "../ui/table/use-row-height.ts";
import { useRowWindow } from "../ui/table/use-window.ts";
import { LongText } from "../ui/text/long-text.tsx";
import { download } from "./download.ts";
import { JsonFind } from "./json-find.tsx";
import { JsonLine } from "./json-line.tsx";
import { JsonText } from "./json-text.tsx";
import { type Json, parseJson } from "./parse.ts";
import { ancestors, findInJson, type JsonRow, openAtFirst, visibleRows } from "./rows.ts";

interface JsonTreeProps {
  /** Accessible name: "Arguments". */
  readonly label: string;
  /**
   * The JSON text, whose numbers are shown exactly as written, or a value that was parsed already.
   */
  readonly source: { readonly text: string } | { readonly value: unknown };
  /** Name of the file to download; undefined for no download. */
  readonly fileName?: string | undefined;
  /** Levels that are open at first, default 2. */
  readonly depth?: number;
  /** `none` hides find, copy and download, for small values. */
  readonly tools?: "all" | "none";
}

/**
 * JSON as a tree. The lines of a value are created when it is opened, and only visible lines are
 * rendered.
 */
export function JsonTree({ source, ...rest }: JsonTreeProps) {
  const text = "text" in source ? source.text : undefined;
  const given = "value" in source ? source.value : undefined;
  const value = useMemo(
    () => (text === undefined ? (given as Json) : parseJson(text)),
    [text, given],
  );
  if (value === undefined) return <LongText text={text ?? ""} variant="code" />;
  return <Tree value={value} {...rest} />;
}

interface TreeProps extends Omit<JsonTreeProps, "source"> {
  readonly value: Json;
}

function Tree({ label, value, fileName, depth = 2, tools = "all" }: TreeProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => openAtFirst(value, depth));
  const [query, setQuery] = useState("");
  const [match, setMatch] = useState(0);
  const [focused, setFocused] = useState("");
  const [shown, setShown] = useState<JsonRow>();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const rows = useMemo(() => visibleRows(value, open), [value, open]);
  const matches = useMemo(() => findInJson(value, query), [value, query]);
  const matched = useMemo(() => new Set(matches), [matches]);
  const lineHeight = useRowHeight("line");
  const { start, end } = useRowWindow(list, rows.length, lineHeight);
  const current = matches[match];
  const rendered = rows.slice(start, end);
  const isRendered = (pointer: string | undefined) =>
    rendered.some((row) => row.pointer === pointer);
  // One of the rendered lines must be reachable with the Tab key.
  const tabStop = [focused, current].find(isRendered) ?? rendered[0]?.pointer;

  const toggle = (pointer: string, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(pointer);
    else next.delete(pointer);
    setOpen(next);
  };
  const goTo = (pointers: readonly string[], index: number) => {
    setMatch(index);
    const pointer = pointers[index];
    if (pointer === undefined) return;
    const shown = new Set([...open, ...ancestors(pointer)]);
    // React must render the opened lines before the tree is scrolled to one of them: a browser
    // scrolls only as far as the present content reaches.
    flushSync(() => setOpen(shown));
    const position = visibleRows(value, shown).findIndex((row) => row.pointer === pointer);
    const box = list.current?.parentElement;
    if (box) box.scrollTop = Math.max(0, position * lineHeight - box.clientHeight / 2);
  };
  const find = (text: string) => {
    setQuery(text);
    goTo(findInJson(value, text), 0);
  };

  return (
    <div className="min-w-0 overflow-hidden rounded-control border border-rule bg-well">
      {tools === "none" ? null : (
        <div className="flex min-w-0 items-center gap-1 border-b border-rule p-1">
          <JsonFind
            label={`Find in ${label}`}
            query={query}
            matches={matches.length}
            match={match}
            onQuery={find}
            onMatch={(index) => goTo(matches, index)}
          />
          <CopyButton text={() => written(value)} what={label} />
          {fileName === undefined ? null : (
            <IconButton
              icon={Download}
              label={`Download ${label}`}
              size="small"
              onClick={() => download(fileName, written(value))}
            />
          )}
        </div>
      )}
      <div className="max-h-[50vh] overflow-auto py-1">
        <div
          ref={list}
          role="tree"
          aria-label={label}
          className="relative min-w-max font-mono text-dense"
          // If only some of the lines are rendered, the element still has the height of all lines,
          // so that the scroll bar is right.
          style={end - start < rows.length ? { height: rows.length * lineHeight } : {}}
        >
          <div style={{ height: start * lineHeight }} />
          {rendered.map((row) => (
            <JsonLine
              key={row.pointer}
              id={`${id}${row.pointer}`}
              row={row}
              height={lineHeight}
              isMatch={matched.has(row.pointer)}
              isCurrent={row.pointer === current}
              isFocusable={row.pointer === tabStop}
              onFocus={() => setFocused(row.pointer)}
              onToggle={(isOpen) => toggle(row.pointer, isOpen)}
              onShow={() => setShown(row)}
            />
          ))}
        </div>
      </div>
      {shown === undefined ? null : (
        <JsonText key={shown.pointer} row={shown} onClose={() => setShown(undefined)} />
      )}
    </div>
  );
}

const written = (value: Json) => JSON.stringify(value, null, 2);
