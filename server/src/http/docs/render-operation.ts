import { escapeHtml } from "../escape-html.ts";
import { codeBlock, jsonBlock, prose } from "./html.ts";
import type { Content, Operation, Parameter } from "./operations.ts";
import { type LinkTo, notesOf, renderFields, renderRow, typeOf } from "./render-schema.ts";
import { type Sample, samplesOf } from "./samples.ts";

/** Returns the section of one operation: its description, and its samples beside it. */
export function renderOperation(operation: Operation, baseUrl: string, linkTo: LinkTo): string {
  const { id, method, path, summary, description, requestBody, responses } = operation;
  const all = Object.entries(responses);
  const successes = all.filter(([status]) => Number(status) < 400);
  const errors = all.filter(([status]) => Number(status) >= 400);
  return `<section class="operation" id="${id}">
<div class="text">
<h2><a href="#${id}">${escapeHtml(summary)}</a></h2>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${prose(description)}</p>
${renderParameters(operation, linkTo)}
${requestBody === undefined ? "" : `<h3>Body</h3>${renderContent(requestBody.content, linkTo, { marksRequired: true })}`}
${successes
  .map(
    ([status, { description: text, content = {} }]) =>
      `<h3>Response ${status}</h3><p>${prose(text)}</p>${renderContent(content, linkTo)}`,
  )
  .join("\n")}
${
  errors.length === 0
    ? ""
    : `<details><summary>Errors</summary><table class="fields">${errors
        .map(
          ([status, error]) =>
            `<tr><td>${status}</td><td>${errorList(error.description)}</td></tr>`,
        )
        .join("")}</table></details>`
}
</div>
<div class="code">
${renderSamples(operation, baseUrl)}
${successes.map(([status, { content = {} }]) => renderExample(status, content)).join("\n")}
</div>
</section>`;
}

/** Renders the description of an error response, in which semicolons separate the error codes. */
function errorList(description: string): string {
  return description
    .split(/; (?=`)/)
    .map((line) => prose(line))
    .join("<br>");
}

const parameterKinds = [
  ["path", "Path parameters"],
  ["query", "Query parameters"],
  ["header", "Headers"],
] as const;

function renderParameters({ parameters }: Operation, linkTo: LinkTo): string {
  return parameterKinds
    .map(([kind, title]) => {
      const rows = parameters.filter((parameter) => parameter.in === kind);
      return rows.length === 0
        ? ""
        : `<h3>${title}</h3><table class="fields">${rows.map((each) => parameterRow(each, linkTo)).join("")}</table>`;
    })
    .join("");
}

function parameterRow({ name, schema, description, required = false }: Parameter, linkTo: LinkTo) {
  const described = description === undefined ? schema : { ...schema, description };
  const notes = notesOf(described, required);
  return renderRow({ name, type: typeOf(schema, linkTo), notes });
}

const anyType = "*/*";

function renderContent(
  content: Content,
  linkTo: LinkTo,
  options: { readonly marksRequired?: boolean } = {},
): string {
  const bySchema = Map.groupBy(Object.entries(content), ([type, { schema }]) =>
    type === anyType ? type : JSON.stringify(schema),
  );
  return [...bySchema]
    .map(([key, each]) => {
      const types = each.map(([type]) => `<code>${escapeHtml(type)}</code>`).join(" or ");
      const schema = each[0]?.[1].schema ?? {};
      const fields = key === anyType ? "" : renderFields(schema, linkTo, options);
      return `<p class="media">${types}</p>${fields}`;
    })
    .join("");
}

function renderSamples(operation: Operation, baseUrl: string): string {
  return renderTabs(operation.id, samplesOf(operation, baseUrl));
}

/** Returns samples as tabs. The tabs are radio buttons, so they work without a script. */
export function renderTabs(id: string, samples: readonly Sample[]): string {
  return `<fieldset class="samples"><legend>Sample</legend>${samples
    .map(
      ({ language, label, code }, index) =>
        `<input type="radio" name="${id}-sample" id="${id}-${language}" value="${language}"${
          index === 0 ? " checked" : ""
        }><label for="${id}-${language}">${label}</label>${codeBlock(code)}`,
    )
    .join("")}</fieldset>`;
}

function renderExample(status: string, content: Content): string {
  const example = content["application/json"]?.example;
  return example === undefined
    ? ""
    : `<figure><figcaption>Response ${status}</figcaption>${jsonBlock(example)}</figure>`;
}
