import type { RefObject } from "react";
import { Problem } from "../../ui/index.ts";
import type { ImportProblem } from "./import-errors.ts";

interface ImportProblemsProps {
  readonly problems: readonly ImportProblem[];
  /** The text area that contains the text to import. */
  readonly area: RefObject<HTMLTextAreaElement | null>;
}

/**
 * Shows why nothing was imported: each problem with its agent, and a button that selects its line.
 */
export function ImportProblems({ problems, area }: ImportProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <Problem error="Correct this, then import again." title="Nothing was imported.">
      <ul className="flex flex-col gap-1 text-dense">
        {problems.map(({ where, message, line }) => (
          <li key={`${where} ${message}`} className="break-words">
            {where === undefined ? null : <strong className="font-semibold">{where}: </strong>}
            {message}{" "}
            {line === undefined ? null : (
              <button
                type="button"
                onClick={() => selectLine(area.current, line)}
                className="rounded-bar text-tide underline underline-offset-3"
              >
                Show line {line}
              </button>
            )}
          </li>
        ))}
      </ul>
    </Problem>
  );
}

/** Selects a line, from 1, and scrolls to it. */
function selectLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return;
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).join("\n").length;
  const start = line === 1 ? 0 : before + 1;
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = Math.max(0, (line - 4) * lineHeight);
}
