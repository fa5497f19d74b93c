import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { Markdown } from "./markdown.tsx";
import { Rendered } from "./rendered.tsx";

test("a text that takes long to parse is rendered on request only", () => {
  const shown = (length: number) =>
    renderToStaticMarkup(createElement(Markdown, { text: "*".repeat(length) }));
  expect(shown(50_001)).toContain("Render as Markdown");
  expect(shown(50_000)).not.toContain("Render as Markdown");
});

test.each(["> ", "1. ", "- ", "[^a]: ", "**a "])(
  "a text of 1,300 times %j is shown unformatted",
  (marker) => {
    const text = `a\n${marker.repeat(1_300)}`;
    const shown = renderToStaticMarkup(createElement(Rendered, { text }));
    expect(shown.replaceAll("&gt;", ">")).toContain(text.slice(0, 3_000));
  },
);

test("a text that cannot be parsed is shown unformatted", async () => {
  const exceedStack = () => () => {
    throw new RangeError("Maximum call stack size exceeded");
  };
  vi.doMock("rehype-sanitize", () => ({ default: exceedStack }));
  vi.resetModules();
  const { Rendered } = await import("./rendered.tsx");
  vi.doUnmock("rehype-sanitize");
  const shown = renderToStaticMarkup(createElement(Rendered, { text: "**a**" }));
  expect(shown).toContain("**a**");
});

test("many emphases one after the other are formatted", () => {
  const text = "**a** _b_ ~~c~~, *d*.\n".repeat(200);
  expect(renderToStaticMarkup(createElement(Rendered, { text }))).not.toContain("*");
});
