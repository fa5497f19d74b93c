import { expect, test, vi } from "vitest";
import { diffTexts, foldSame } from "./text-diff.ts";

const shown = (before: string, after: string) =>
  diffTexts(before, after).map(
    ({ kind, parts }) =>
      `${{ same: " ", removed: "-", added: "+" }[kind]}${parts
        .map(({ text, changed }) => (changed ? `[${text}]` : text))
        .join("")}`,
  );

test("equal texts have no change", () => {
  expect(shown("a\nb", "a\nb")).toEqual([" a", " b"]);
  expect(shown("", "")).toEqual([]);
});

test("a line break at the end is no change", () => {
  expect(shown("a\nb", "a\nb\n")).toEqual([" a", " b"]);
});

test("added and removed lines are marked", () => {
  expect(shown("a\nc", "a\nb\nc")).toEqual([" a", "+b", " c"]);
  expect(shown("a\nb\nc", "a\nc")).toEqual([" a", "-b", " c"]);
  expect(shown("", "a")).toEqual(["+a"]);
});

test("changed words are marked within a line", () => {
  expect(shown("Be brief.\nBe kind.", "Be very brief.\nBe kind.")).toEqual([
    "-Be brief.",
    "+Be [very ]brief.",
    " Be kind.",
  ]);
});

test("lines that are left when the time is over are shown as replaced", () => {
  const now = vi.spyOn(performance, "now");
  // The first line gets the rest of the time, which must be enough on a busy machine.
  now.mockReturnValueOnce(0).mockReturnValueOnce(1).mockReturnValue(300);
  expect(shown("a b\nc d", "a x\nc y")).toEqual(["-a [b]", "-c d", "+a [x]", "+c y"]);
});

test("unchanged lines far from a change are folded", () => {
  const many = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const sections = foldSame(diffTexts(many.join("\n"), [...many, "new"].join("\n")));
  expect(sections.map(({ folded, lines }) => [folded, lines.length])).toEqual([
    [true, 17],
    [false, 4],
  ]);
});
