import { createHash } from "node:crypto";
import { escapeHtml } from "../escape-html.ts";
import type { Chapter } from "./chapters/index.ts";
import { prose } from "./html.ts";
import { pageScript } from "./page-script.ts";
import type { ResourcePage, Site } from "./pages.ts";
import { renderOperation, renderTabs } from "./render-operation.ts";
import { renderFields } from "./render-schema.ts";
import { samplesOf } from "./samples.ts";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Returns the content security policy. It allows the page's own style and script, which it
 * identifies by their hashes, the dashboard's fonts, and nothing else.
 */
export function pagePolicy(style: string): string {
  return [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(pageScript)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "font-src 'self'",
  ].join("; ");
}

/**
 * Returns a documentation page as one HTML document. The page loads no other files than fonts.
 * @param slug the last part of its path; undefined for the overview
 * @returns undefined if there is no such page
 */
export function renderPage(
  site: Site,
  style: string,
  slug: string | undefined,
): string | undefined {
  const pages = [...site.chapters, ...site.resources];
  const index = pages.findIndex((page) => page.slug === slug);
  const page = pages[index];
  if (slug !== undefined && page === undefined) return undefined;
  const neighbours = `<p class="pages">${link(pages[index - 1] ?? overviewOf(page), "← ")}${link(pages[index + 1], "", " →")}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page === undefined ? "Beckon API" : `${escapeHtml(page.title)} · Beckon API`}</title>
<meta name="color-scheme" content="light dark">
<style>${style}</style>
<script>${pageScript}</script>
</head>
<body>
<input type="checkbox" id="menu" aria-label="Menu">
<header><label for="menu">Menu</label><a href="/docs">${mark}Beckon API</a><span>${escapeHtml(site.version)}</span><a href="/openapi.json">openapi.json</a></header>
<div class="page">
${renderNavigation(site, slug)}
<main>
${page === undefined ? renderOverview(site) : "sections" in page ? renderChapter(page) : renderResource(page, site)}
${neighbours}
</main>
</div>
</body>
</html>
`;
}

/** Beckon's logo, the same as in the dashboard (web/src/ui/mark.tsx). */
const mark = `<svg viewBox="0 0 16 16" width="20" height="20" fill="none" stroke-width="2" aria-hidden="true"><path d="M3 1V15"/><circle cx="6.5" cy="10.5" r="3.5"/><path class="beams" stroke-width="1.75" d="M7.5 4.1 10.5 1.6M10.6 6.6 14.4 5.4"/></svg>`;

interface Linked {
  readonly slug: string;
  readonly title: string;
}

/**
 * Returns the overview, to which the first page links back. Returns undefined if `page` is
 * undefined: the current page is then the overview itself, and no page comes before it.
 */
function overviewOf(page: Linked | undefined): Linked | undefined {
  return page === undefined ? undefined : { slug: "", title: "Overview" };
}

function link(page: Linked | undefined, before = "", after = ""): string {
  if (page === undefined) return "<span></span>";
  const path = page.slug === "" ? "/docs" : `/docs/${page.slug}`;
  return `<a href="${path}">${before}${escapeHtml(page.title)}${after}</a>`;
}

function renderNavigation({ chapters, resources }: Site, slug: string | undefined): string {
  const guides = chapters.map(({ slug: path, title, sections }) =>
    group(
      { slug: path, title },
      sections.map(({ id, title: section }) => ({ id, text: section, search: section })),
      slug,
    ),
  );
  const operations = resources.map(({ slug: path, title, operations: each }) =>
    group(
      { slug: path, title },
      each.map(({ id, summary, method, path: route }) => ({
        id,
        text: summary,
        search: `${summary} ${method} ${route} ${id}`,
      })),
      slug,
    ),
  );
  return `<nav aria-label="Documentation">
<div id="search" role="search" hidden><label>Search<input type="search" placeholder="Operation, path, topic" autocomplete="off"></label><span role="status"></span></div>
<div class="part"><p>Guides</p>
${guides.join("\n")}
</div>
<div class="part"><p>Resources</p>
${operations.join("\n")}
</div>
</nav>`;
}

function group(
  page: Linked,
  entries: readonly { readonly id: string; readonly text: string; readonly search: string }[],
  current: string | undefined,
): string {
  const isCurrent = page.slug === current;
  const items = entries.map(
    ({ id, text, search }) =>
      `<li data-search="${escapeHtml(`${page.title} ${search}`)}"><a href="/docs/${page.slug}#${id}">${escapeHtml(text)}</a></li>`,
  );
  const currentMark = isCurrent ? ' aria-current="page"' : "";
  return `<div class="group" data-search="${escapeHtml(page.title)}"><a href="/docs/${page.slug}"${currentMark}>${escapeHtml(page.title)}</a><ul${isCurrent ? "" : " hidden"}>${items.join("")}</ul></div>`;
}

function heading(title: string, lead: string): string {
  return `<h1>${escapeHtml(title)}</h1>\n<p class="lead">${prose(lead)}</p>`;
}

const shapes: readonly (readonly [string, string])[] = [
  ["A resource", '{"ok": true, "data": {…}}'],
  ["A list", '{"ok": true, "data": […], "next": "<cursor>" | null}'],
  [
    "An error",
    '{"ok": false, "error": "<what went wrong and what to do>", "code": "<stable code>"}',
  ],
];

function renderOverview({ description, chapters, resources, baseUrl }: Site): string {
  const [lead = ""] = description.split("\n\n");
  const invoke = resources[0]?.operations.find(({ id }) => id === "invokeAgent");
  const cards = (pages: readonly (Linked & { readonly lead: string })[]) =>
    `<ul class="cards">${pages
      .map(
        (page) =>
          `<li><a href="/docs/${page.slug}">${escapeHtml(page.title)}</a><p>${prose(page.lead)}</p></li>`,
      )
      .join("")}</ul>`;
  return `${heading("Beckon API", lead)}
<section class="operation" id="start"><div class="text"><h2><a href="#start">Start here</a></h2>
<p>${prose("Every agent has a token. Send it with an input, and get the output when the run has ended.")}</p>
<p>This installation is at <code>${escapeHtml(baseUrl)}</code>. ${prose("Tools that read OpenAPI 3.1 use the [OpenAPI document](/openapi.json).")}</p>
</div><div class="code">${invoke === undefined ? "" : renderTabs("start", samplesOf(invoke, baseUrl))}</div></section>
<section id="responses"><h2><a href="#responses">Responses</a></h2><table class="fields">${shapes
    .map(([name, shape]) => `<tr><td>${name}</td><td><code>${escapeHtml(shape)}</code></td></tr>`)
    .join("")}</table>
<p>${prose("Every response has the header `beckon-request-id`. Versions only add: ignore fields and enum values that you do not know. A request body with an unknown field is rejected, except by an invoke, which ignores it.")}</p></section>
<section id="guides"><h2><a href="#guides">Guides</a></h2>${cards(chapters)}</section>
<section id="resources"><h2><a href="#resources">Resources</a></h2>${cards(resources)}</section>`;
}

function renderChapter({ title, lead, sections }: Chapter): string {
  return `${heading(title, lead)}
${sections
  .map(
    ({ id, title: section, html, samples = [] }) =>
      `<section class="operation" id="${id}"><div class="text"><h2><a href="#${id}">${escapeHtml(section)}</a></h2>${html}</div><div class="code">${
        samples.length === 0 ? "" : renderTabs(id, samples)
      }</div></section>`,
  )
  .join("\n")}`;
}

function renderResource(page: ResourcePage, { baseUrl, linkTo }: Site): string {
  const { title, lead, operations, schemas } = page;
  return `${heading(title, lead)}
${operations.map((operation) => renderOperation(operation, baseUrl, linkTo)).join("\n")}
${schemas
  .map(
    ([name, schema]) =>
      `<section id="${name}"><h2><a href="#${name}">${name}</a></h2>${renderFields(schema, linkTo)}</section>`,
  )
  .join("\n")}`;
}
