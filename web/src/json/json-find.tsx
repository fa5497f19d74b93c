import { ChevronDown, ChevronUp } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { IconButton } from "../ui/action/icon-button.tsx";
import { useEscape } from "../ui/form/use-escape.ts";
import { maxMatches } from "./rows.ts";

interface JsonFindProps {
  readonly label: string;
  readonly query: string;
  readonly matches: number;
  /** Index of the current match. */
  readonly match: number;
  readonly onQuery: (query: string) => void;
  readonly onMatch: (index: number) => void;
}

/** The search field of a tree. Enter goes to the next match, Shift-Enter to the previous one. */
export function JsonFind({ label, query, matches, match, onQuery, onMatch }: JsonFindProps) {
  const input = useRef<HTMLInputElement>(null);
  useEscape(input, query === "" ? undefined : () => onQuery(""));
  const step = (by: number) => {
    if (matches > 0) onMatch((match + by + matches) % matches);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    }
  };
  const total = matches >= maxMatches ? `${maxMatches}+` : String(matches);
  return (
    <div className="flex min-w-0 flex-1 items-center gap-1">
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder="Find"
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={press}
        spellCheck={false}
        className="h-control-small min-w-0 flex-1 rounded-control bg-transparent px-2 text-dense focus-visible:-outline-offset-2"
      />
      <span role="status" className="shrink-0 text-label text-ink-3">
        {query === "" ? "" : matches === 0 ? "No match" : `${match + 1} of ${total}`}
      </span>
      {matches < 2 ? null : (
        <>
          <IconButton icon={ChevronUp} label="Match before" size="small" onClick={() => step(-1)} />
          <IconButton icon={ChevronDown} label="Next match" size="small" onClick={() => step(1)} />
        </>
      )}
    </div>
  );
}
