import type { OpenapiDocument } from "../openapi/index.ts";
import { type Chapter, chaptersOf } from "./chapters/index.ts";
import { type Operation, operationsOf, type Schema } from "./operations.ts";

/** A page with the operations of one tag, and the resources in their responses. */
export interface ResourcePage {
  readonly slug: string;
  readonly title: string;
  readonly lead: string;
  readonly operations: readonly Operation[];
  /** The resources, with their names in the OpenAPI document. */
  readonly schemas: readonly (readonly [name: string, schema: Schema])[];
}

/** The documentation: its pages, and the values that several pages show. */
export interface Site {
  readonly baseUrl: string;
  /** Version of Beckon. */
  readonly version: string;
  /** The `info.description` of the OpenAPI document. */
  readonly description: string;
  /** The guides, in reading order. */
  readonly chapters: readonly Chapter[];
  readonly resources: readonly ResourcePage[];
  /** Returns the path and fragment at which the pages describe a schema of the OpenAPI document. */
  readonly linkTo: (schema: string) => string;
}

/**
 * Divides the OpenAPI document into pages: one for each tag. A schema is on the first page that
 * uses it.
 */
export function siteOf(document: OpenapiDocument): Site {
  const baseUrl = document.servers[0]?.url ?? "";
  const operations = operationsOf(document);
  const pageOfSchema = new Map<string, string>([["Error", "errors"]]);
  const resources = document.tags.map((tag): ResourcePage => {
    const ofTag = operations.filter((operation) => operation.tag === tag.name);
    const used = JSON.stringify(ofTag.map(({ responses }) => responses));
    const schemas = Object.entries(document.components.schemas).filter(
      ([name]) => !pageOfSchema.has(name) && used.includes(`"#/components/schemas/${name}"`),
    );
    for (const [name] of schemas) pageOfSchema.set(name, tag.name);
    return {
      slug: tag.name,
      title: tag["x-displayName"],
      lead: tag.description,
      operations: ofTag,
      schemas,
    };
  });
  return {
    baseUrl,
    version: document.info.version,
    description: document.info.description,
    chapters: chaptersOf(baseUrl),
    resources,
    linkTo: (schema) => `/docs/${pageOfSchema.get(schema) ?? "errors"}#${schema}`,
  };
}
