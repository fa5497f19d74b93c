import { diffLines, diffWordsWithSpace } from "diff";

/** A piece of a line; `changed` if the other version of the line does not have it. */
export interface DiffPart {
  readonly text: string;
  readonly changed: boolean;
}

/** A line of a comparison of two texts. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly parts: readonly DiffPart[];
}

/**
 * Maximum time in milliseconds for the comparison of two texts by line, and then of all changed
 * lines by word. If it is not enough, the whole text or the remaining lines are shown as replaced.
 */
const maxMs = 300;

/** Returns the lines of both texts, with the words that changed within a line. */
export function diffTexts(before: string, after: string): readonly DiffLine[] {
  const blocks = diffLines(ended(before), ended(after), { timeout: maxMs }) ?? [
    { value: ended(before), removed: true, added: false },
    { value: ended(after), removed: false, added: true },
  ];
  const lines: DiffLine[] = [];
  const deadline = performance.now() + maxMs;
  for (let index = 0; index < blocks.length; index += 1) {
    const block = blocks[index];
    const next = blocks[index + 1];
    if (block === undefined) continue;
    if (block.removed && next?.added) {
      lines.push(...replaced(linesOf(block.value), linesOf(next.value), deadline));
      index += 1;
    } else {
      const kind = block.removed ? "removed" : block.added ? "added" : "same";
      lines.push(...linesOf(block.value).map((text) => whole(kind, text)));
    }
  }
  return lines;
}

/**
 * Returns removed lines followed by added lines. If there are as many removed lines as added ones,
 * the first removed line is compared with the first added one, and so on, and changed words are
 * marked.
 * @param deadline value of `performance.now()` from which on no words are marked
 */
function replaced(
  before: readonly string[],
  after: readonly string[],
  deadline: number,
): readonly DiffLine[] {
  if (before.length !== after.length)
    return [
      ...before.map((text) => whole("removed", text)),
      ...after.map((text) => whole("added", text)),
    ];
  const words = before.map((text, index) => {
    const timeout = deadline - performance.now();
    return timeout > 0 ? diffWordsWithSpace(text, after[index] ?? "", { timeout }) : undefined;
  });
  const side = (kind: "removed" | "added", texts: readonly string[]) =>
    texts.map((text, index): DiffLine => {
      const parts = words[index]?.filter((part) => part[kind] || !(part.added || part.removed));
      if (parts === undefined) return whole(kind, text);
      return { kind, parts: parts.map((part) => ({ text: part.value, changed: part[kind] })) };
    });
  return [...side("removed", before), ...side("added", after)];
}

const whole = (kind: DiffLine["kind"], text: string): DiffLine => ({
  kind,
  parts: [{ text, changed: false }],
});

/**
 * Adds a line break at the end: without it, the last line would count as changed if only one of the
 * texts ends with a line break.
 */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
const linesOf = (text: string) => text.replace(/\n$/, "").split("\n");

/**
 * A part of a comparison. If `folded`, it consists of unchanged lines that are far from any change.
 */
export interface DiffSection {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
}

/** Number of unchanged lines that are shown before and after each change. */
const context = 3;

/** Splits a comparison so that long unchanged passages can be folded. */
export function foldSame(lines: readonly DiffLine[]): readonly DiffSection[] {
  const isNear = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - context), index + context + 1)
      .some(({ kind }) => kind !== "same"),
  );
  const sections: { folded: boolean; lines: DiffLine[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const folded = isNear[index] !== true;
    const last = sections.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else sections.push({ folded, lines: [line] });
  }
  return sections;
}
