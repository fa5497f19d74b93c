import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { FoundCount } from "./found-count.tsx";

test.each([
  [0, "Nothing matches."],
  [100, ""],
  [250, "150 more: type to find them."],
])("of %i found options, screen readers hear “%s”", (count, text) => {
  const markup = renderToStaticMarkup(createElement(FoundCount, { count }));
  expect(markup).toMatch(/^<p role="status"/);
  expect(markup.replace(/<[^>]+>/g, "")).toBe(text);
});
