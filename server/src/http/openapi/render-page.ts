import { createHash } from "node:crypto";
import type { OpenapiDocument } from "./build-document.ts";
import { pageStyle } from "./page-style.ts";

/** What the page reads of an operation. */
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    name: string;
    in: string;
    description?: string;
    schema: unknown;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { description: string; content?: Content }>>;
}
type Content = Readonly<Record<string, { schema?: unknown; example?: unknown }>>;
interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Allows the page's own style, by its hash, and nothing else: no script, no picture, no request. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(pageStyle).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The document as a page for people: HTML that needs no script and no other file. */
export function renderPage(document: OpenapiDocument): string {
  const places: Place[] = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Operation,
    })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    places: places.filter(({ operation }) => operation.tags.includes(name)),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Beckon: API</title>
<style>${pageStyle}</style>
</head>
<body>
<nav aria-label="Operations">${groups.map(contents).join("")}</nav>
<main>
<h1>Beckon: API</h1>
${document.info.description
  .split("\n\n")
  .map((paragraph) => `<p>${prose(paragraph)}</p>`)
  .join("\n")}
<p>For machines: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). The credential is sent as the header <code>x-api-key</code>; who is signed in has a cookie.</p>
${groups.map(group).join("\n")}
<section><h2 id="resources">Resources</h2>${Object.entries(document.components.schemas)
    .map(([name, schema]) => `<article id="${name}"><h3>${name}</h3>${code(schema)}</article>`)
    .join("\n")}</section>
</main>
</body>
</html>
`;
}

const contents = ({ name, places }: { name: string; places: readonly Place[] }) =>
  `<h2>${escapeHtml(name)}</h2><ul>${places
    .map(
      ({ operation }) =>
        `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`,
    )
    .join("")}</ul>`;

const group = ({ name, places }: { name: string; places: readonly Place[] }) =>
  `<section><h2>${escapeHtml(name)}</h2>${places.map(article).join("\n")}</section>`;

function article({ method, path, operation }: Place): string {
  const { parameters = [], requestBody, responses } = operation;
  const described = parameters.filter((parameter) => parameter.in !== "path");
  const [good = [], bad = []] = [
    Object.entries(responses).filter(isGood),
    Object.entries(responses).filter((each) => !isGood(each)),
  ];
  return `<article id="${operation.operationId}">
<h3>${escapeHtml(operation.summary)}</h3>
<p class="route"><span class="method">${method}</span>${escapeHtml(path)}</p>
${operation.description === undefined ? "" : `<p>${prose(operation.description)}</p>`}
${described.length === 0 ? "" : `<h4>Parameters</h4><table>${described.map(parameterRow).join("")}</table>`}
${requestBody === undefined ? "" : `<h4>Body</h4>${content(requestBody.content)}`}
${good.map(([status, answer]) => `<h4>Answer ${status}</h4><p>${prose(answer.description)}</p>${content(answer.content ?? {})}`).join("")}
${bad.length === 0 ? "" : `<h4>Errors</h4><table>${bad.map(([status, { description }]) => `<tr><td>${status}</td><td>${prose(description)}</td></tr>`).join("")}</table>`}
</article>`;
}

const isGood = ([status]: [string, unknown]) => Number(status) < 400;

function parameterRow(parameter: {
  name: string;
  in: string;
  description?: string;
  schema: unknown;
}): string {
  const where = parameter.in === "header" ? "Header." : "";
  const said = [where, parameter.description].filter(Boolean).join(" ");
  const schema = `<code>${escapeHtml(JSON.stringify(parameter.schema))}</code>`;
  return `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td>${prose(said)} ${parameter.in === "query" ? schema : ""}</td></tr>`;
}

const content = (given: Content) =>
  Object.entries(given)
    .map(
      ([type, { schema, example }]) =>
        `${example === undefined ? `<p><code>${escapeHtml(type)}</code></p>` : code(example)}${
          schema === undefined ? "" : `<details><summary>Schema</summary>${code(schema)}</details>`
        }`,
    )
    .join("");

/** JSON to read, with links to the resources that it names. */
function code(value: unknown): string {
  const text = escapeHtml(JSON.stringify(value, null, 2));
  return `<pre><code>${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#$1">$1</a>')}</code></pre>`;
}

/** Plain text, in which backticks mark code. */
function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
