import { memo, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { ScrollRegion } from "../ui/layout/scroll-region.tsx";
import { LongText } from "../ui/text/long-text.tsx";
import { hostOf } from "./host.ts";
import { isTooNested } from "./nesting.ts";

interface OutsideLinkProps {
  readonly href: string | undefined;
  readonly children: ReactNode;
}

/** A link that also shows its host, because a model's text can link to any site. */
function OutsideLink({ href, children }: OutsideLinkProps) {
  const host = hostOf(href);
  if (href === undefined || host === undefined) return <span>{children}</span>;
  return (
    <>
      <a
        href={href}
        target="_blank"
        rel="noreferrer"
        className="rounded-bar text-tide underline underline-offset-3 hover:text-tide-strong"
      >
        {children}
      </a>
      <span className="text-label text-ink-3">{` (${host})`}</span>
    </>
  );
}

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  img: ({ src, alt }) => (
    <OutsideLink href={typeof src === "string" ? src : undefined}>
      {`Image: ${alt || "without a description"}`}
    </OutsideLink>
  ),
  h1: ({ children }) => <h3 className="text-section font-semibold">{children}</h3>,
  h2: ({ children }) => <h4 className="text-section font-semibold">{children}</h4>,
  h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
  h4: ({ children }) => <h6 className="font-semibold">{children}</h6>,
  ul: ({ children }) => <ul className="flex list-disc flex-col gap-1 pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="flex list-decimal flex-col gap-1 pl-5">
      {children}
    </ol>
  ),
  blockquote: ({ children }) => (
    <blockquote className="border-l-2 border-rule pl-3 text-ink-2">{children}</blockquote>
  ),
  code: ({ children }) => (
    <code className="rounded-bar bg-well px-1 font-mono text-dense">{children}</code>
  ),
  pre: ({ children }) => (
    <ScrollRegion label="Code">
      <pre className="w-fit min-w-full rounded-control border border-rule bg-well px-3 py-2">
        {children}
      </pre>
    </ScrollRegion>
  ),
  table: ({ children }) => (
    <ScrollRegion label="Table">
      <table className="border-collapse text-dense">{children}</table>
    </ScrollRegion>
  ),
  // `style` has the alignment of the column.
  th: ({ children, style }) => (
    <th style={style} className="border-b border-edge px-2 py-1 text-left font-semibold">
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td style={style} className="border-b border-rule px-2 py-1">
      {children}
    </td>
  ),
  // The checkboxes of task lists have no label in GFM, so they get one for screen readers.
  input: ({ checked = false }) => (
    <input type="checkbox" checked={checked} disabled aria-label={checked ? "Done" : "Not done"} />
  ),
  hr: () => <hr className="border-rule" />,
};

/**
 * Markdown as React elements. It is made safe twice: raw HTML is skipped, and the element tree is
 * filtered. The text is parsed again only if it changes, not each time the parent is rendered. A
 * text that is nested too deeply is shown unformatted.
 */
export const Rendered = memo(function Rendered({ text }: { readonly text: string }) {
  const elements = isTooNested(text) ? undefined : render(text);
  if (elements === undefined) return <LongText text={text} />;
  return (
    <div dir="auto" className="flex min-w-0 flex-col gap-3 break-words">
      {elements}
    </div>
  );
});

/**
 * Returns undefined if the text cannot be parsed, for example because its emphasis is nested too
 * deeply. `ReactMarkdown` has no hooks, so it is called directly: an error boundary would also
 * catch the error, but React would first parse the text a second time.
 */
function render(text: string): ReactNode {
  try {
    return ReactMarkdown({
      children: text,
      components,
      rehypePlugins: [rehypeSanitize],
      remarkPlugins: [remarkGfm],
      skipHtml: true,
    });
  } catch {
    return undefined;
  }
}
