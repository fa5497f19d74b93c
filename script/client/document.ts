/** The fields of an OpenAPI document that the generator of the client uses. */

export type Schema = Record<string, unknown>;
export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  /** Absent if the document's default applies, empty if no credential is needed. */
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** An operation with its method and path. */
export interface Endpoint {
  readonly method: string;
  /** Path below `/api/public`, for example `/agents/{agent_id}`. */
  readonly path: string;
  readonly operation: Operation;
}

const root = "/api/public";
const methods = ["get", "post", "put", "patch", "delete"];

/**
 * Returns the operations below `/api/public`. Health checks and documentation pages are left out.
 */
export function operationsOf(document: OpenapiDocument): Endpoint[] {
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith(`${root}/`))
    .flatMap(([path, byMethod]) =>
      Object.entries(byMethod)
        .filter(([method]) => methods.includes(method))
        .map(([method, operation]) => ({
          method: method.toUpperCase(),
          path: path.slice(root.length),
          operation: {
            ...(operation as Operation),
            parameters: parametersOf(byMethod, operation as Operation),
          },
        })),
    );
}

/**
 * Returns the parameters of an operation, including those that its path declares for all its
 * operations.
 */
function parametersOf(
  byMethod: Readonly<Record<string, unknown>>,
  operation: Operation,
): Parameter[] {
  const ofPath = (byMethod.parameters ?? []) as readonly Parameter[];
  return [...ofPath, ...(operation.parameters ?? [])];
}

export type Kind = "json" | "lines" | "text" | "stream" | "bytes";

/** Returns how a body of this media type is read. */
export function kindOf(mediaType: string): Kind {
  const type = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (/^application\/(jsonl|x-ndjson|json-seq)$/.test(type)) return "lines";
  if (type === "text/event-stream") return "stream";
  if (/[/+]json$/.test(type)) return "json";
  if (type.startsWith("text/") || /[/+](yaml|x-yaml|xml)$/.test(type)) return "text";
  return "bytes";
}
