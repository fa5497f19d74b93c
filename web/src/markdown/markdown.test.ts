import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "./markdown.tsx";

test("a text that takes long to parse is rendered on request only", () => {
  const shown = (length: number) =>
    renderToStaticMarkup(createElement(Markdown, { text: "*".repeat(length) }));
  expect(shown(50_001)).toContain("Render as Markdown");
  expect(shown(50_000)).not.toContain("Render as Markdown");
});
