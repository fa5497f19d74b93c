import { escapeHtml } from "../escape-html.ts";

/**
 * Returns text as HTML: backticks mark code, and `[text](/path)` is a link to a path of this
 * server.
 */
export function prose(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\[([^\]]+)\]\((\/[\w/.#-]*)\)/g, '<a href="$2">$1</a>');
}

/** Returns a table as HTML. The cells have the syntax of `prose`. */
export function table(
  rows: readonly (readonly string[])[],
  headings: readonly string[] = [],
): string {
  const row = (cells: readonly string[], tag: "td" | "th") =>
    `<tr>${cells.map((cell) => `<${tag}>${prose(cell)}</${tag}>`).join("")}</tr>`;
  const header = headings.length === 0 ? "" : row(headings, "th");
  return `<table>${header}${rows.map((cells) => row(cells, "td")).join("")}</table>`;
}

/** Returns a block of code, which is never wrapped. It can be scrolled with the keyboard. */
export function codeBlock(code: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`;
}

/** Returns JSON as a block of code. */
export function jsonBlock(value: unknown): string {
  return codeBlock(JSON.stringify(value, null, 2));
}
